# Stands in for building a model (paper 004, VI.E: tens of minutes to over an hour). A rehearsal calls no compiler, and not this.
echo "built $1 (stand-in)"
