"""`ctan profile`: a table for people, a document for machines, one line for mistakes."""

FILE = ("--src", "caller", "--dst", "callee", "--t", "time", "--msg", "minutes")


def test_table_and_document(ctan, calls):
    asked = ("profile", "link", calls, *FILE, "--batches", 3, "--rounds", 1)
    result = ctan(*asked, "--protocol", "batch_size=50", "--option", "dim=8")
    assert result.code == 0
    for part in ("sampling", "neighbours", "gathers", "products", "optimiser", "rest", "a step"):
        assert part in result.out
    assert "protocol: split time" in result.out
    assert "over the last 3 batches" in result.out
    told = ctan(*asked, "--model", "tgn", "--option", "dim=8", "--json").json
    assert told["model"] == "tgn"
    assert (told["batches"], told["events"]) == (2, 280)  # the whole training part
    assert 0 < told["share_of_products"] < 1
    assert told["protocol"]["batch_size"] == 256


def test_mistakes_are_one_line(ctan, calls):
    result = ctan("profile", "link", calls, *FILE, "--model", "edgebank")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "learns nothing" in result.err
    result = ctan("profile", "link", calls, *FILE, "--option", "dmi=3", "--protocol", "lrr=1")
    assert result.code == 2
    assert "'dim'" in result.err
    assert "'lr'" in result.err
