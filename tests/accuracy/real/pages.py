# SPDX-License-Identifier: MIT
"""Pages of Django by its test client: templates, ORM, JSON. pages.py ROUNDS"""

import json
import sys

import django
from django.conf import settings
from django.db import connection, models
from django.http import HttpResponse, JsonResponse
from django.template import engines
from django.test import Client
from django.urls import path

TEMPLATE = """{% for note in notes %}<li class="{% cycle 'odd' 'even' %}">
{{ note.title|title }}: {{ note.text|truncatewords:5 }}
{% if note.size > 100 %}({{ note.size }}){% endif %}</li>{% endfor %}"""

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
)
django.setup()


class Note(models.Model):
    title = models.CharField(max_length=40)
    text = models.TextField()
    size = models.IntegerField()

    class Meta:
        app_label = "pages"


def listed(request):
    page = engines["django"].from_string(TEMPLATE)
    return HttpResponse(page.render({"notes": Note.objects.order_by("-size")[:40]}))


def counted(request, least):
    notes = Note.objects.filter(size__gte=least).values("title", "size")
    return JsonResponse({"notes": list(notes)})


def written(request):
    data = json.loads(request.body)
    note = Note.objects.create(**data)
    return JsonResponse({"id": note.pk}, status=201)


urlpatterns = [
    path("", listed),
    path("notes/<int:least>/", counted),
    path("write/", written),
]


def main(rounds):
    client = Client()
    with connection.schema_editor() as editor:
        editor.create_model(Note)
    for number in range(rounds):
        note = {"title": f"note {number}", "text": "a word or two " * 9, "size": number}
        client.post("/write/", json.dumps(note), content_type="application/json")
        client.get("/")
        client.get(f"/notes/{max(number - 30, 0)}/")


main(int(sys.argv[1]))
