"""Project management tools: tasks on boards and lists. Messages as in the official code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.matching import choose, contains

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox

LISTS = ("Backlog", "In Progress", "In Review", "Completed")
BOARDS = ("Back end", "Front end", "Design")
BAD_ASSIGNEE = "Assignee email not valid. Please choose from the list of team members."
BAD_LIST = "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'."
BAD_BOARD = "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'."


def create_task(
    box: Sandbox,
    /,
    task_name: str | None = None,
    assigned_to_email: str | None = None,
    list_name: str | None = None,
    due_date: str | None = None,
    board: str | None = None,
) -> str:
    if not task_name or not assigned_to_email or not list_name or not due_date or not board:
        return "Missing task details."
    tasks = box.state["project_management"]
    assigned_to_email = assigned_to_email.lower()
    if not tasks.where("assigned_to_email", assigned_to_email):
        return BAD_ASSIGNEE
    if list_name not in LISTS:
        return BAD_LIST
    if board not in BOARDS:
        return BAD_BOARD
    task_id = str(tasks.next_number("task_id")).zfill(8)
    cells = {
        "task_id": task_id,
        "task_name": task_name,
        "assigned_to_email": assigned_to_email,
        "list_name": list_name,
        "due_date": due_date,
        "board": board,
    }
    tasks.append(cells, label=len(tasks.rows))
    tasks.relabel()
    return task_id


def update_task(
    box: Sandbox, /, task_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> str:
    if not task_id or not field or not new_value:
        return "Task ID, field, or new value not provided."
    tasks = box.state["project_management"]
    if field == "assigned_to_email":
        new_value = new_value.lower()
    if field == "board" and new_value not in BOARDS:
        return BAD_BOARD
    if field == "list_name" and new_value not in LISTS:
        return BAD_LIST
    if field == "assigned_to_email" and not tasks.where("assigned_to_email", new_value):
        return BAD_ASSIGNEE
    if not tasks.where("task_id", task_id):
        return "Task not found."
    if field not in tasks.columns:
        return "Field not valid."
    tasks.update("task_id", task_id, field, new_value)
    return "Task updated successfully."


def delete_task(box: Sandbox, /, task_id: str | None = None) -> str:
    if not task_id:
        return "Task ID not provided."
    tasks = box.state["project_management"]
    if not tasks.where("task_id", task_id):
        return "Task not found."
    tasks.delete("task_id", task_id)
    return "Task deleted successfully."


def get_task_information_by_id(
    box: Sandbox, /, task_id: str | None = None, field: str | None = None
) -> dict[str, object] | str:
    if not task_id:
        return "Task ID not provided."
    if not field:
        return "Field not provided."
    tasks = box.state["project_management"]
    rows = tasks.where("task_id", task_id)
    if not rows:
        return "Task not found."
    task = tasks.records(rows[:1])[0]
    return {field: task[field]} if field in task else "Field not found."


def search_tasks(
    box: Sandbox,
    /,
    task_name: str | None = None,
    assigned_to_email: str | None = None,
    list_name: str | None = None,
    due_date: str | None = None,
    board: str | None = None,
) -> list[dict[str, object]] | str:
    """Every task that matches all the given texts."""
    wanted = {
        "task_name": task_name,
        "assigned_to_email": assigned_to_email,
        "list_name": list_name,
        "due_date": due_date,
        "board": board,
    }
    if not any(wanted.values()):
        return "No search parameters provided."
    tasks = box.state["project_management"]
    rows = tasks.rows
    for name, text in wanted.items():
        if text:
            test, column = contains(text, literal=box.literal), tasks.columns.index(name)
            rows = [rows[i] for i in choose([test(row[column]) for row in rows])]
    return tasks.records(rows)


READS = (get_task_information_by_id, search_tasks)
WRITES = (create_task, delete_task, update_task)
