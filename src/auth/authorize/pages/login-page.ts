import { html, type Html } from './html.ts'
import { renderMark, renderName, renderPage } from './page.ts'

export interface LoginPage {
  /** What stands before the paths of forms: the issuer's path, or nothing. */
  readonly base: string
  readonly clientName: string
  readonly csrf: string
  /** The authorization request's query string. */
  readonly request: string
  /** The name that was typed before, or of whom has to enter the password again. */
  readonly user?: string | undefined
  /** What was wrong with the last attempt. */
  readonly problem?: string | undefined
  /** Why somebody who is signed in has to enter the password again. */
  readonly reason?: string | undefined
}

/** The page that asks for a name and password. */
export function renderLogin({ base, clientName, csrf, request, user, problem, reason }: LoginPage): string {
  return renderPage(
    'Sign in',
    html`${renderMark(clientName)}
      <h1>Sign in</h1>
      <p class="soft">to continue to ${renderName(clientName)}</p>
      ${reason === undefined ? undefined : html`<p class="box note">${reason}</p>`}
      ${problem === undefined ? undefined : html`<p class="box bad" role="alert" id="problem">${problem}</p>`}
      <form method="post" action="${base}/authorization/login">
        <input type="hidden" name="csrf" value="${csrf}" />
        <input type="hidden" name="request" value="${request}" />
        ${renderFields(user, problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="problem"`)}
        <div class="actions"><button class="strong">Sign in</button></div>
      </form>`,
  )
}

/** The name is there already where it was typed before, so that only the password is left to type. */
function renderFields(user: string | undefined, invalid: Html | undefined): Html {
  const focus = html` autofocus`
  return html`<label for="username">Username</label>
    <input
      id="username"
      name="username"
      autocomplete="username"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      value="${user}"
      required${invalid}${user === undefined ? focus : undefined}
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      required${invalid}${user === undefined ? undefined : focus}
    />`
}
