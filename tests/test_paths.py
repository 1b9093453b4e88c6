"""Files that several processes and threads write."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from codestress.paths import write_whole


def test_a_file_that_is_written_by_many_at_once_is_one_of_theirs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "folder" / "file.txt"
    texts = [str(number) * 100_000 for number in range(10)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_whole(path, text), texts * 10))
    assert path.read_text() in texts
    assert list(path.parent.iterdir()) == [path]
