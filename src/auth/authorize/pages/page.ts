import { createHash } from 'node:crypto'
import { html, trustMarkup, type Html } from './html.ts'
import { style } from './style.ts'

/** The source of the pages' one style in a Content-Security-Policy. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`

// nothing but the style itself between its tags: that is what the hash is of
const styleElement = trustMarkup(`<style>${style}</style>`)

/** A whole page: plain HTML, no script, nothing from elsewhere. The title says what page it is. */
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

/** A sign for a client: the first character of its name. It tells nothing that is not said in words. */
export function renderMark(clientName: string): Html {
  const [first] = new Intl.Segmenter().segment(clientName.trim())
  return html`<div class="mark" aria-hidden="true">${first?.segment.toUpperCase() ?? ''}</div>`
}

/** A name that somebody chose: whatever its direction of writing, it does not turn the text around it (UAX #9). */
export function renderName(name: string): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
