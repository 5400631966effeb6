// SPDX-License-Identifier: MIT
// See view.h.
#include "tui/views/view.h"

int View_request(const struct View *view, uint32_t key)
{
    const struct Binding *own = view->own;
    for (; own && own->keys[0]; own++)
        if (Binding_has(own, key))
            return own->request;
    return Keymap_request(key);
}

enum ViewId View_opened_by(const struct View *views, uint32_t key)
{
    int id = 0;
    while (id < VIEW_COUNT && !Binding_has(&views[id].opens, key))
        id++;
    return (enum ViewId)id;
}
