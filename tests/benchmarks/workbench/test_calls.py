"""Actions are read as syntax and never evaluated; what cannot be read raises as the official code does."""

from __future__ import annotations

import pytest

from relaybench.benchmarks.workbench.calls import clean, execute, parse, written_name
from relaybench.benchmarks.workbench.sandbox import Sandbox

RAISES = {
    'email.delete_email(email_id="00000001")': TypeError,  # without .func the official code raises
    "update_event.func()": NameError,
    "print.func()": AttributeError,
    'human.func(message="?")': NameError,
    "email.send.func()": AttributeError,
    "email.delete_email.func.more()": AttributeError,
    'email.delete_email.func(id="1")': TypeError,
    "email.delete_email.func(email_id=name)": NameError,
    'email.delete_email.func(email_id="a"b")': SyntaxError,
    'email.delete_email.func(email_id="1", email_id="2")': SyntaxError,
    'email.delete_email.func(from="x")': SyntaxError,
    "Log the request.func()": SyntaxError,
    "email.delete_email.func(email_id=open('x'))": ValueError,
    "email.delete_email.func(email_id='a' + 'b')": ValueError,
    "email.delete_email.func": ValueError,
    "(lambda: 0)()": ValueError,
    "email.delete_email.func(email_id='\0')": SyntaxError,
    "": SyntaxError,
}


@pytest.mark.parametrize(("action", "kind"), RAISES.items())
def test_what_cannot_be_called_raises(box: Sandbox, action: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        execute(box, action)
    assert box.state == box.base.state


def test_positional_keyword_and_unpacked_arguments_work(box: Sandbox) -> None:
    assert execute(box, 'email.get_email_information_by_id.func("00000001", field="subject")') == {"subject": "Lunch"}
    assert execute(box, 'email.delete_email.func(**{"email_id": "00000001"})') == "Email deleted successfully."
    assert execute(box, 'email.delete_email.func(*["00000002"])') == "Email deleted successfully."


def test_the_loose_form_needs_no_suffix(box: Sandbox) -> None:
    assert execute(box, '  company_directory.find_email_address(name="Bo")', strict=False) == ("bo.ray@atlas.com",)
    assert execute(box, 'company_directory.find_email_address.func(name="Bo")', strict=False) == ("bo.ray@atlas.com",)


def test_a_new_line_inside_a_text_is_kept(box: Sandbox) -> None:
    execute(box, 'email.send_email.func(recipient="a@b.c", subject="s", body="one\ntwo")')
    assert box.state["email"].rows[-1][-1] == "one\ntwo"
    assert clean("a\nb") == "a\\nb"


def test_deeply_nested_brackets_are_a_syntax_error_and_no_crash() -> None:
    with pytest.raises(SyntaxError):
        parse(f"email.delete_email.func({'(' * 5000}1{')' * 5000})")


def test_a_call_is_named_by_its_first_two_parts() -> None:
    assert written_name('email.send_email.func(body="a.b(c)")') == "email.send_email"
    assert written_name("search.func()") == "search.func"
