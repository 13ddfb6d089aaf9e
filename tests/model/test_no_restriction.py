"""Restrictions that say that there is none, in many words, and true ones that look like them."""

from __future__ import annotations

import pytest

from shakedown.model.said_words import restricts_nothing, wrong_said

NONE = """
none
no
not any
nothing
nil
null
void
na
zero
0
no restriction
no restrictions
unrestricted
without
without a restriction
without restriction
without restrictions
kein
keine
keiner
keines
keinerlei
nichts
nix
entfällt
ohne
keine einschränkung
keine einschränkungen
ohne einschränkung
ohne einschränkungen
aucun
aucune
rien
néant
sans
sans restriction
sans restrictions
aucune restriction
pas de restriction
pas de restrictions
sans objet
ninguna
ninguno
nada
sin
sin restricción
sin restricciones
ninguna restricción
nessuna
nessuno
niente
nulla
senza
nessuna restrizione
senza restrizioni
nenhuma
nenhum
sem
sem restrição
sem restrições
cap
res
niciuna
nimic
geen
niets
zonder
geen beperking
geen beperkingen
inga
ingen
inget
ingenting
intet
utan
uden
uten
ei
ei mitään
ei rajoituksia
puudub
nav
nėra
brak
żadne
żaden
nic
bez
bez ograniczeń
žádné
žádná
žádný
bez omezení
nincs
semmi
nema
нет
ничего
никаких
без ограничений
немає
няма
καμία
κανένα
κανένας
τίποτα
yok
hiç
hiçbir
hiçbiri
无
無
没有
沒有
无限制
無限制
无附加条件
なし
無し
無い
ない
制限なし
特になし
特に無し
없음
없다
없습니다
제한 없음
لا
لا شيء
لا يوجد
بدون
هیچ
ندارد
אין
ללא
कोई नहीं
नहीं
không
không có
tidak ada
tiada
ไม่มี
accepted without restrictions
none at all
no restriction whatsoever
kein Vorbehalt
as is
As-is.
nihil
n o n e
N.O.N.E.
not applicable
—
keine Einschränkung
sans réserve aucune
Accepted, no restrictions.
n/a
N.A.
n. a.
w/o restrictions
accepted with no restrictions
None / keine / aucune
None. Keine. Aucune.
no restrictions apply
There are no restrictions.
there aren't any restrictions
There aren’t any conditions
nothing further
no further remarks
without any reservation
unconditionally
fully accepted
free of restrictions
The system is accepted without any restriction.
System accepted as is
no limitations of any kind
none known
none at this time
currently none
no known issues
Restrictions: none
Restriction: n/a
ohne jede Einschränkung
ohne Vorbehalt
ohne Vorbehalte und Auflagen
Es gibt keine Einschränkungen.
keine weiteren Bemerkungen
nicht zutreffend
uneingeschränkt abgenommen
Keinerlei Auflagen
Entfällt.
wie besehen
Abnahme ohne Vorbehalt
n'y a pas de réserve
il n'y a aucune réserve
sans aucune restriction
pas de réserves
non applicable
accepté sans réserve
tel quel
sin ninguna restricción
sin reservas
no aplica
aceptado sin condiciones
nessuna riserva
senza alcuna riserva
accettato senza riserve
sem quaisquer restrições
não aplicável
sem ressalvas
zonder voorbehoud
geen enkele beperking
niet van toepassing
utan förbehåll
inga begränsningar
uten forbehold
ingen begrænsninger
ilman varauksia
brak zastrzeżeń
bez żadnych ograniczeń
nie dotyczy
bez výhrad
bez jakýchkoli omezení
без каких-либо ограничений
Без ограничений
не применимо
нет ограничений
χωρίς περιορισμούς
χωρίς καμία επιφύλαξη
kısıtlama yok
hiçbir kısıtlama yok
没有任何限制
无任何保留
不适用
无条件接受
制限は一切ありません
特記事項なし
該当なし
無条件
아무 제한도 없음
해당 없음
ไม่มีข้อจำกัด
بدون قيود
ללא הגבלה
tanpa batasan
không có hạn chế
ＮＯＮＥ
nоne
0.0
0 %
zero restrictions
OK
ok.
o.k.
accepted
yes
as agreed
∅
✓
...
N O  R E S T R I C T I O N S
n-o-n-e
no objections
'none'
"none"
(none)
[n/a]
- none -
NONE!!!
no.
nope
nil.
Not required
no conditions attached
No comment
""".strip().splitlines()

TRUE = """
no jobs over 512 nodes until the fan is replaced
without warranty for rack 7
not applicable to GPU nodes until March
no wide jobs
none of the wide jobs
Нет широких
½ price
no GPU nodes
rack 7 not included
with restrictions
accepted with restrictions
accepted with reservations
only as is until May
as is, no GPU jobs
none except rack 7
no restrictions except on rack 7
no restrictions after March
n0
N0
n1
A
rack A
no multi-node jobs
no MPI
not accepted
not without reservations
not unrestricted
nicht ohne Vorbehalt
pas sans réserve
half the price
no more than 10 nodes
no hyperthreading
without GPU
without InfiniBand
ohne GPU
ohne Gewähr
keine Jobs über 512 Knoten
nicht für GPU-Knoten
sans garantie
pas de GPU
aucun job de plus de 512 nœuds
sin garantía
sin GPU
no usar GPU
senza garanzia
nessun job
zonder garantie
geen GPU
utan garanti
uten GPU
bez gwarancji
brak GPU
bez GPU
без GPU
без гарантии
нет широких заданий
χωρίς εγγύηση
garanti yok
GPU yok
没有GPU
无GPU节点
不含GPU
仅限512节点
GPUなし
夜間のみ
512ノードまで
GPU 없음
야간만
ไม่มี GPU
بدون GPU
ללא GPU
tanpa GPU
less
small jobs only
nights only
1
12
10 %
5
no tests
no tests on this system
not present
not known
not complete
no acceptance
keine Abnahme
not in the contract
limited
restricted
known issues apply
conditions apply
see ticket 7
ticket 7: none yet fixed
none fixed yet
no power
cap 512 nodes
cap 10
no disks
no swap
no cooling
no login
no root
no X
no limit on price until paid
no restriction for nodes below 512
accepted until May
accepted for 6 months
ok until May
as is until the fan is replaced
die Karte fehlt
nul GPU
no des
point 4
men only
test only
vendor pays
site pays
rows 3-7
row 3
criterion waived for vendor
no tests after 10 pm
0 GPUs
zero tolerance
no i/o
n/a for GPU
none for GPU
accepted, but no GPU
accepted: rack 7 out
temporary
provisional
unrestricted for 8 nodes
unlimited only at night
free of charge
kein Netz
nichts über 10 GB/s
nicht im Winter
keine Garantie auf Lüfter
no guarantee
not guaranteed
no support
without support
no vendor support
no firmware update
no change
not now
without node n7
no n7
ohne n7
""".strip().splitlines()


@pytest.mark.parametrize("text", [*NONE, "n\u00ado\u00adn\u00ade", "n\u0336o\u0336n\u0336e\u0336", "none\n\nat all"])
def test_what_only_says_that_there_is_none_is_refused(text: str) -> None:
    assert restricts_nothing(text)
    assert "restricts nothing: say what the acceptance is restricted by" in wrong_said("Ada", "so", text)


@pytest.mark.parametrize("text", TRUE)
def test_a_true_restriction_is_taken_as_it_is(text: str) -> None:
    assert not restricts_nothing(text) and not wrong_said("Ada", "so", text)


@pytest.mark.parametrize(
    "text", ["bad " * 100_000, "no " * 100_000, "n.o." * 50_000, "\u65e0" * 100_000, "-" * 200_000 + "x"]
)
def test_a_text_of_any_length_is_read_at_once(text: str) -> None:
    """Where a part has more words than anybody says so with, it is taken as it is."""
    assert not restricts_nothing(text)
