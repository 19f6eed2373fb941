"""One BLAS thread while any tracker works, and as many as before afterwards."""

import threading

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from metrack.threads import one_blas_thread


def counts():
    return {each["num_threads"] for each in ThreadpoolController().info() if each["user_api"] == "blas"}


@pytest.fixture
def two_before():
    with threadpool_limits(2, user_api="blas"):
        if counts() != {2}:
            pytest.skip("this BLAS has one thread only")
        yield


@pytest.mark.usefixtures("two_before")
def test_one_thread_inside_and_as_many_as_before_outside():
    with one_blas_thread():
        assert counts() == {1}
        with one_blas_thread():
            assert counts() == {1}
        assert counts() == {1}
    assert counts() == {2}


@pytest.mark.usefixtures("two_before")
def test_the_last_of_several_threads_to_leave_lifts_the_limit():
    """Also where yet another thread has set the number before, as the fixture has."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = []

    def first():
        with one_blas_thread():
            first_is_in.set()
            second_is_in.wait(10)
        first_is_out.set()

    def second():
        first_is_in.wait(10)
        with one_blas_thread():
            second_is_in.set()
            first_is_out.wait(10)
            seen.append(counts())

    workers = [threading.Thread(target=each) for each in (first, second)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(20)
    assert seen == [{1}]
    assert counts() == {2}
