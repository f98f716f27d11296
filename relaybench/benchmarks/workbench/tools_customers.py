"""Customer relationship tools: the customer table. Messages as in the official code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaybench.benchmarks.workbench.matching import choose, contains

if TYPE_CHECKING:
    from relaybench.benchmarks.workbench.sandbox import Sandbox

LIMIT = 5
STATUSES = ("Qualified", "Won", "Lost", "Lead", "Proposal")
PRODUCTS = ("Software", "Hardware", "Services", "Consulting", "Training")


def search_customers(
    box: Sandbox,
    /,
    customer_name: str | None = None,
    customer_email: str | None = None,
    product_interest: str | None = None,
    status: str | None = None,
    assigned_to_email: str | None = None,
    last_contact_date_min: str | None = None,
    last_contact_date_max: str | None = None,
    follow_up_by_min: str | None = None,
    follow_up_by_max: str | None = None,
) -> list[dict[str, object]] | str:
    """The first five customers, in table order, that match all given texts; dates are compared as strings."""
    texts = {
        "customer_name": customer_name,
        "customer_email": customer_email,
        "product_interest": product_interest,
        "status": status,
        "assigned_to_email": assigned_to_email,
    }
    ranges = {
        "last_contact_date": (last_contact_date_min, last_contact_date_max),
        "follow_up_by": (follow_up_by_min, follow_up_by_max),
    }
    if not any(texts.values()) and not any(any(bounds) for bounds in ranges.values()):
        return "No search parameters provided. Please provide at least one parameter."
    customers = box.state["customer_relationship_manager"]
    rows = customers.rows
    for name, text in texts.items():
        if text:
            test, column = contains(text, literal=box.literal), customers.columns.index(name)
            rows = [rows[i] for i in choose([test(row[column]) for row in rows])]
    for name, (low, high) in ranges.items():
        column = customers.columns.index(name)
        if low:
            rows = [row for row in rows if row[column] is not None and row[column] >= low]  # type: ignore[operator]
        if high:
            rows = [row for row in rows if row[column] is not None and row[column] <= high]  # type: ignore[operator]
    return customers.records(rows[:LIMIT])


def update_customer(
    box: Sandbox, /, customer_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> str:
    if not customer_id or not field or not new_value:
        return "Customer ID, field, or new value not provided."
    if field == "status" and new_value not in STATUSES:
        return "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'"
    if field == "product_interest" and new_value not in PRODUCTS:
        return (
            "Product interest not valid. Please choose from: "
            "'Software', 'Hardware', 'Services', 'Consulting', 'Training'"
        )
    if field in ("customer_email", "assigned_to_email"):
        new_value = new_value.lower()
    customers = box.state["customer_relationship_manager"]
    if not customers.where("customer_id", customer_id):
        return "Customer not found."
    if field not in customers.columns:
        return (
            "Field not valid. Please choose from: 'customer_name', 'assigned_to_email', 'customer_email', "
            "'customer_phone', 'last_contact_date', 'product_interest', 'status', 'notes', 'follow_up_by'"
        )
    customers.update("customer_id", customer_id, field, new_value)
    return "Customer updated successfully."


def add_customer(
    box: Sandbox,
    /,
    customer_name: str | None = None,
    assigned_to_email: str | None = None,
    status: str | None = None,
    customer_email: str | None = None,
    customer_phone: str | None = None,
    last_contact_date: str | None = None,
    product_interest: str | None = None,
    notes: str = "",
    follow_up_by: str | None = None,
) -> str:
    if not customer_name or not assigned_to_email or not status:
        return "Please provide all required fields: customer_name, assigned_to_email, status."
    customers = box.state["customer_relationship_manager"]
    customer_id = str(customers.next_number("customer_id")).zfill(8)
    cells = {
        "customer_id": customer_id,
        "customer_name": customer_name,
        "customer_email": customer_email.lower() if customer_email else customer_email,
        "customer_phone": customer_phone,
        "last_contact_date": last_contact_date,
        "product_interest": product_interest,
        "status": status,
        "assigned_to_email": assigned_to_email.lower(),
        "notes": notes,
        "follow_up_by": follow_up_by,
    }
    customers.append(cells, label=len(customers.rows))
    customers.relabel()
    return customer_id


def delete_customer(box: Sandbox, /, customer_id: str | None = None) -> str:
    if not customer_id:
        return "Customer ID not provided."
    customers = box.state["customer_relationship_manager"]
    if not customers.where("customer_id", customer_id):
        return "Customer not found."
    customers.delete("customer_id", customer_id)
    return "Customer deleted successfully."


READS = (search_customers,)
WRITES = (add_customer, update_customer, delete_customer)
