import { createHash } from 'node:crypto'
import { html, trustMarkup, type Html } from './html.ts'
import { style } from './style.ts'

/** The source expression of the pages' style for Content-Security-Policy. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`

// The hash covers everything between the tags, so they must contain only the style.
const styleElement = trustMarkup(`<style>${style}</style>`)

/** Renders a page of plain HTML without scripts or external resources. */
export function renderPage(title: string, content: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <main>${content}</main>
      </body>
    </html> `.toString()
}

/** Renders a badge with the first character of a client's name. It is decorative. */
export function renderBadge(clientName: string): Html {
  const [first] = new Intl.Segmenter().segment(clientName.trim())
  return html`<div class="mark" aria-hidden="true">${first?.segment.toUpperCase() ?? ''}</div>`
}

/** Renders a name that a user chose. Isolates its writing direction from the text around it (UAX #9). */
export function renderName(name: string): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
