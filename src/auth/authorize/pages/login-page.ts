import { html, type Html } from './html.ts'
import { renderBadge, renderName, renderPage } from './page.ts'

export interface LoginPage {
  /** The prefix of form paths: the path of the issuer, or empty. */
  readonly base: string
  /** The name of the service that users sign in to. */
  readonly service: string
  /** What the service is; may be empty. */
  readonly description: string
  /** The setting `accent`. */
  readonly accent: string
  /** Undefined for the portal, which is the service itself. */
  readonly clientName: string | undefined
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
  const { base, service, clientName, request, canRegister, accent } = page
  const others = html`<p class="other">
    New here? <a class="link" href="${base}/authorization/register?${request}">Create an account</a>
  </p>`
  return renderPage(
    `Sign in to ${service}`,
    html`${renderBadge(service, 'service')}
      <h1>Sign in to ${renderName(service)}</h1>
      ${renderClient(clientName)}
      ${renderForm(page, { path: 'login', button: 'Sign in', passwordKind: 'current-password' })}
      ${canRegister && page.reason === undefined ? others : undefined} ${renderDescription(page)}`,
    accent,
  )
}

/** Renders the registration page. */
export function renderRegister(page: Omit<LoginPage, 'reason' | 'canRegister'>): string {
  const { base, service, clientName, request, accent } = page
  return renderPage(
    `Create an account for ${service}`,
    html`${renderBadge(service, 'service')}
      <h1>Create your ${renderName(service)} account</h1>
      ${renderClient(clientName)}
      ${renderForm(page, { path: 'register', button: 'Create account', passwordKind: 'new-password' })}
      <p class="other">
        Have an account? <a class="link" href="${base}/authorization/authorize?${request}">Sign in</a>
      </p>
      ${renderDescription(page)}`,
    accent,
  )
}

function renderClient(name: string | undefined): Html | undefined {
  return name === undefined ? undefined : html`<p class="soft">to continue to ${renderName(name)}</p>`
}

/** Comes last, because it may be long. */
function renderDescription({ description }: Pick<LoginPage, 'description'>): Html | undefined {
  return description === '' ? undefined : html`<p class="about soft small" dir="auto">${description}</p>`
}

interface Form {
  readonly path: 'login' | 'register'
  readonly button: string
  readonly passwordKind: 'current-password' | 'new-password'
}

function renderForm({ base, csrf, request, reason, problem, user }: Omit<LoginPage, 'canRegister'>, form: Form): Html {
  const { path, button, passwordKind } = form
  // The login page focuses the password if the name is already filled in.
  const focus = path === 'login' && user !== undefined ? 'password' : 'username'
  return html`${reason === undefined ? undefined : html`<p class="box note">${reason}</p>`}
    ${problem === undefined ? undefined : html`<p class="box bad" role="alert" id="problem">${problem}</p>`}
    <form method="post" action="${base}/authorization/${path}">
      <input type="hidden" name="csrf" value="${csrf}" />
      <input type="hidden" name="request" value="${request}" />
      ${renderCredentials({ user, passwordKind, isInvalid: problem !== undefined, focus })}
      <div class="actions"><button class="strong">${button}</button></div>
    </form>`
}

export interface Credentials {
  readonly user: string | undefined
  readonly passwordKind: 'current-password' | 'new-password'
  /** Whether the element `problem` describes what is wrong with them. */
  readonly isInvalid?: boolean
  readonly focus?: 'username' | 'password'
}

/** Renders the fields for name and password. */
export function renderCredentials({ user, passwordKind, isInvalid = false, focus }: Credentials): Html {
  const isNew = passwordKind === 'new-password'
  const autofocus = (field: Credentials['focus']) => (field === focus ? html` autofocus` : undefined)
  const invalid = isInvalid ? html` aria-invalid="true" aria-describedby="problem"` : undefined
  const ruled = html` minlength="8" aria-describedby="${isInvalid ? 'problem rule' : 'rule'}"`
  return html`<label for="username">Username</label>
    <input
      id="username"
      name="username"
      autocomplete="username"
      autocapitalize="none"
      autocorrect="off"
      spellcheck="false"
      value="${user}"
      required${invalid}${autofocus('username')}
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="${passwordKind}"
      required${isNew ? ruled : invalid}${autofocus('password')}
    />
    ${isNew ? html`<p class="soft small" id="rule">At least 8 characters</p>` : undefined}`
}
