# Stands in for building a model: copies the program, and fails as oneAPI did (paper, IV.C). No compiler is called.
case $1 in
intel-oneapi)
    echo "model.F90(1): error: stands in for what oneAPI refused; the paper does not print the messages" >&2
    exit 1 ;;
esac
chmod +x run.sh
echo "built with $1 (stand-in)"
