import { createHash } from 'node:crypto'
import { deriveAccent, type AccentColours } from '../../../kit/index.ts'
import { html, trustMarkup, type Html } from './html.ts'
import { style } from './style.ts'

/**
 * Returns the source expression of a page's style for Content-Security-Policy.
 * @param accent the setting `accent`
 */
export function styleSourceOf(accent: string): string {
  return `'sha256-${createHash('sha256').update(styleOf(accent)).digest('base64')}'`
}

function styleOf(accent: string): string {
  if (accent === '') return style
  const { light, dark } = deriveAccent(accent)
  return `${style}${colorsOf(light)}@media (prefers-color-scheme: dark) {${colorsOf(dark)}}`
}

function colorsOf({ fill, hover, onFill, text }: AccentColours): string {
  const strong = `--strong: ${fill}; --strong-over: ${hover}; --on-strong: ${onFill}; --strong-edge: ${text}`
  const mark = `--mark: ${onFill}; --mark-back: ${fill}; --mark-edge: ${text}`
  return `:root { ${strong}; ${mark}; --link: ${text}; --ring: ${text}; }`
}

/**
 * Renders a page of plain HTML without scripts or external resources.
 * @param accent the setting `accent`
 */
export function renderPage(title: string, content: Html, accent = ''): string {
  // The hash covers everything between the tags, so they must contain only the style.
  const styleElement = trustMarkup(`<style>${styleOf(accent)}</style>`)
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

/** Renders a badge with the first character of the name of a client or the service. It is decorative. */
export function renderBadge(name: string, kind: 'client' | 'service'): Html {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return html`<div class="mark ${kind}" aria-hidden="true">${first?.segment.toUpperCase() ?? ''}</div>`
}

/** Renders a name that a user chose. Isolates its writing direction from the text around it (UAX #9). */
export function renderName(name: string): Html {
  return html`<strong><bdi translate="no">${name}</bdi></strong>`
}
