# SPDX-License-Identifier: MIT
"""Evaluates arithmetic expressions. This file has a tokenizer (a generator), a recursive
parser, and a tree of small objects with the method evaluate(). The exceptions of the parser
pass through many frames."""

import re

TOKEN = re.compile(r"\s*(?:(\d+)|([a-z]+)|(.))")


class ExpressionError(ValueError):
    """Raised if the text is not an expression or its value is undefined."""


class Number:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def evaluate(self, variables):
        return self.value


class Variable:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def evaluate(self, variables):
        try:
            return variables[self.name]
        except KeyError:
            raise ExpressionError(f"unknown variable {self.name}") from None


class Operation:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right

    def evaluate(self, variables):
        return self.combine(self.left.evaluate(variables), self.right.evaluate(variables))

    def combine(self, left, right):
        raise NotImplementedError


class Sum(Operation):
    def combine(self, left, right):
        return left + right


class Difference(Operation):
    def combine(self, left, right):
        return left - right


class Product(Operation):
    def combine(self, left, right):
        return left * right


class Quotient(Operation):
    def combine(self, left, right):
        try:
            return left // right
        except ZeroDivisionError as error:
            raise ExpressionError("division by zero") from error


SUMS = {"+": Sum, "-": Difference}
PRODUCTS = {"*": Product, "/": Quotient}


def tokens(text):
    """Yields (kind, text) pairs. The last pair has the kind "end"."""
    for match in TOKEN.finditer(text):
        number, name, sign = match.groups()
        if number is not None:
            yield "number", number
        elif name is not None:
            yield "name", name
        elif not sign.isspace():
            yield "sign", sign
    yield "end", ""


class Parser:
    """Parses a text by these rules. expression: term {(+|-) term}; term: factor
    {(*|/) factor}; factor: number | name | ( expression )"""

    def __init__(self, text):
        self.tokens = tokens(text)
        self.advance()

    def advance(self):
        self.kind, self.text = next(self.tokens)

    def parse(self):
        tree = self.expression()
        if self.kind != "end":
            raise ExpressionError(f"unexpected {self.text!r}")
        return tree

    def expression(self):
        return self.chain(self.term, SUMS)

    def term(self):
        return self.chain(self.factor, PRODUCTS)

    def chain(self, part, operations):
        tree = part()
        while self.kind == "sign" and self.text in operations:
            operation = operations[self.text]
            self.advance()
            tree = operation(tree, part())
        return tree

    def factor(self):
        kind, text = self.kind, self.text
        if kind == "end":
            raise ExpressionError("unexpected end")
        self.advance()
        if kind == "number":
            return Number(int(text))
        if kind == "name":
            return Variable(text)
        if text != "(":
            raise ExpressionError(f"unexpected {text!r}")
        tree = self.expression()
        if self.text != ")":
            raise ExpressionError("missing )")
        self.advance()
        return tree


def evaluate(text, variables):
    """Returns the value of an expression over whole numbers."""
    return Parser(text).parse().evaluate(variables)
