import { html } from './html.ts'
import { renderPage } from './page.ts'

export interface ErrorPage {
  readonly title: string
  /** What happened, in one sentence. */
  readonly detail: string
  /** What to do next. */
  readonly hint?: string | undefined
}

/** Renders the page for errors that must not be sent to a client. It has no links or forms. */
export function renderError({ title, detail, hint }: ErrorPage): string {
  return renderPage(
    title,
    html`<div class="mark" aria-hidden="true">!</div>
      <h1>${title}</h1>
      <p>${detail}</p>
      ${hint === undefined ? undefined : html`<p class="soft">${hint}</p>`}`,
  )
}
