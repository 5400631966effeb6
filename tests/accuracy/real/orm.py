# SPDX-License-Identifier: MIT
"""A job with SQLAlchemy's ORM: orders are written, read with what belongs to them,
and changed. orm.py ROUNDS"""

import sys

from sqlalchemy import ForeignKey, create_engine, func, select
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    mapped_column,
    relationship,
    selectinload,
)


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    orders: Mapped[list["Order"]] = relationship(back_populates="customer")


class Order(Base):
    __tablename__ = "order"
    id: Mapped[int] = mapped_column(primary_key=True)
    amount: Mapped[int]
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id"))
    customer: Mapped[Customer] = relationship(back_populates="orders")


def write(session, first):
    for number in range(first, first + 40):
        customer = Customer(name=f"customer {number}")
        customer.orders = [Order(amount=number * each) for each in range(5)]
        session.add(customer)
    session.commit()


def read(session):
    query = select(Customer).options(selectinload(Customer.orders)).limit(200)
    return sum(
        order.amount for customer in session.scalars(query) for order in customer.orders
    )


def change(session):
    for order in session.scalars(select(Order).where(Order.amount > 50).limit(100)):
        order.amount += 1
    session.commit()
    return session.scalar(select(func.sum(Order.amount)))


def main(rounds):
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    for each in range(rounds):
        with Session(engine) as session:
            write(session, 40 * each)
            read(session)
            change(session)


main(int(sys.argv[1]))
