import { html } from './html.ts'
import { renderCredentials } from './login-page.ts'
import { renderBadge, renderName, renderPage } from './page.ts'

export interface FirstRunPage {
  /** The prefix of form paths: the path of the issuer, or empty. */
  readonly base: string
  readonly service: string
  readonly csrf: string
  /** What was entered before. */
  readonly code?: string | undefined
  readonly user?: string | undefined
  /** Why the last attempt failed. */
  readonly problem?: string | undefined
}

/** Renders the page on which the first administrator is created. */
export function renderFirstRun({ base, service, csrf, code, user, problem }: FirstRunPage): string {
  const described = problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="problem"`
  return renderPage(
    `Set up ${service}`,
    html`${renderBadge(service, 'service')}
      <h1>Set up ${renderName(service)}</h1>
      <p class="soft">
        The server prints a code when it starts on a terminal or with
        <code translate="no">--first-run-code</code>. Enter it to create the first administrator.
      </p>
      ${problem === undefined ? undefined : html`<p class="box bad" role="alert" id="problem">${problem}</p>`}
      <form method="post" action="${base}/authorization/first-run">
        <input type="hidden" name="csrf" value="${csrf}" />
        <label for="code">Code</label>
        <input
          id="code"
          name="code"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck="false"
          value="${code}"
          required
          autofocus${described}
        />
        ${renderCredentials({ user, passwordKind: 'new-password' })}
        <div class="actions"><button class="strong">Create administrator</button></div>
      </form>`,
  )
}
