import { html, type Html } from './html.ts'
import { renderBadge, renderName, renderPage } from './page.ts'

export interface LoginPage {
  /** The prefix of form paths: the path of the issuer, or empty. */
  readonly base: string
  /** The name of the service that users sign in to. */
  readonly service: string
  readonly clientName: string
  readonly csrf: string
  /** The query of the authorization request. */
  readonly request: string
  /** The name entered before, or the name of the user who must enter the password again. */
  readonly user?: string | undefined
  /** Why the last attempt failed. */
  readonly problem?: string | undefined
  /** Why a signed-in user must enter the password again. */
  readonly reason?: string | undefined
  /** Whether users can register themselves. */
  readonly canRegister: boolean
}

/** Renders the page that asks for name and password. */
export function renderLogin(page: LoginPage): string {
  const { base, service, clientName, request, canRegister } = page
  const others = html`<p class="other">
    New here? <a class="link" href="${base}/authorization/register?${request}">Create an account</a>
  </p>`
  return renderPage(
    `Sign in to ${service}`,
    html`${renderBadge(service)}
      <h1>Sign in to ${renderName(service)}</h1>
      <p class="soft">to continue to ${renderName(clientName)}</p>
      ${renderForm(page, { path: 'login', button: 'Sign in', passwordKind: 'current-password' })}
      ${canRegister && page.reason === undefined ? others : undefined}`,
  )
}

/** Renders the registration page. */
export function renderRegister(page: Omit<LoginPage, 'reason' | 'canRegister'>): string {
  const { base, service, clientName, request } = page
  return renderPage(
    `Create an account for ${service}`,
    html`${renderBadge(service)}
      <h1>Create your ${renderName(service)} account</h1>
      <p class="soft">to continue to ${renderName(clientName)}</p>
      ${renderForm(page, { path: 'register', button: 'Create account', passwordKind: 'new-password' })}
      <p class="other">
        Have an account? <a class="link" href="${base}/authorization/authorize?${request}">Sign in</a>
      </p>`,
  )
}

interface Form {
  readonly path: 'login' | 'register'
  readonly button: string
  readonly passwordKind: 'current-password' | 'new-password'
}

function renderForm({ base, csrf, request, reason, problem, user }: Omit<LoginPage, 'canRegister'>, form: Form): Html {
  const invalid = problem === undefined ? undefined : html` aria-invalid="true" aria-describedby="problem"`
  return html`${reason === undefined ? undefined : html`<p class="box note">${reason}</p>`}
    ${problem === undefined ? undefined : html`<p class="box bad" role="alert" id="problem">${problem}</p>`}
    <form method="post" action="${base}/authorization/${form.path}">
      <input type="hidden" name="csrf" value="${csrf}" />
      <input type="hidden" name="request" value="${request}" />
      ${renderFields(user, invalid, form)}
      <div class="actions"><button class="strong">${form.button}</button></div>
    </form>`
}

/** On the login page, focuses the password if the name is already filled in. */
function renderFields(user: string | undefined, invalid: Html | undefined, { path, passwordKind }: Form): Html {
  const isNew = path === 'register'
  const [first, second] = isNew || user === undefined ? [html` autofocus`, undefined] : [undefined, html` autofocus`]
  const ruled = html` minlength="8" aria-describedby="${invalid === undefined ? 'rule' : 'problem rule'}"`
  return html`<label for="username">Username</label>
    <input
      id="username"
      name="username"
      autocomplete="username"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      value="${user}"
      required${invalid}${first}
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="${passwordKind}"
      required${isNew ? ruled : invalid}${second}
    />
    ${isNew ? html`<p class="soft small" id="rule">At least 8 characters</p>` : undefined}`
}
