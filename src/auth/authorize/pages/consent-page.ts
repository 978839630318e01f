import { isOnDevice } from '../../account/redirect-uris.ts'
import { html, type Html } from './html.ts'
import { renderMark, renderName, renderPage } from './page.ts'

export interface ConsentPage {
  /** What stands before the paths of forms: the issuer's path, or nothing. */
  readonly base: string
  /** What people call the service whose account it is. */
  readonly service: string
  readonly clientName: string
  readonly userName: string
  readonly scopes: readonly ConsentScope[]
  /** Where the browser goes next: the redirect URI's host with its port, or its scheme, with the colon, where it has none. */
  readonly redirectHost: string
  /** The client has no secret. */
  readonly isPublic: boolean
  /** The client is this server's own API reference, and the browser stays here. */
  readonly isReference: boolean
  /** Who registered the client, and when: milliseconds since 1970. Undefined for one that is built in. */
  readonly registered: { readonly by: string; readonly at: number } | undefined
  readonly csrf: string
  /** The authorization request's query string. */
  readonly request: string
}

interface ConsentScope {
  readonly name: string
  readonly description?: string | undefined
}

/** The page that asks whether a client may do what it wants to do. */
export function renderConsent(page: ConsentPage): string {
  const { base, clientName, service, scopes } = page
  return renderPage(
    `Allow access to your ${service} account`,
    html`${renderMark(clientName)}
      <h1>Allow ${renderName(clientName)} to use your account?</h1>
      ${renderRegistered(page)} ${renderUser(page)}
      <form method="post" action="${base}/authorization/consent">
        ${renderHidden(page)}
        <h2 id="scopes">It asks for</h2>
        <ul role="list" aria-labelledby="scopes">
          ${scopes.map(renderScope)}
        </ul>
        ${renderRedirect(page)}
        <div class="actions kept">
          <button class="strong" name="decision" value="allow">Allow</button>
          <button class="plain" name="decision" value="deny">Deny</button>
        </div>
      </form>`,
  )
}

/** Anyone can give an app any name: whose it is tells more. */
function renderRegistered({ registered, userName }: ConsentPage): Html | undefined {
  if (registered === undefined) return undefined
  const by = registered.by === userName ? html`you` : renderName(registered.by)
  const day = new Date(registered.at).toISOString().slice(0, 10)
  const text = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(registered.at)
  return html`<p class="soft small">Registered by ${by} on <time datetime="${day}">${text}</time></p>`
}

function renderUser(page: ConsentPage): Html {
  return html`<form class="who" method="post" action="${page.base}/authorization/logout">
    ${renderHidden(page)}
    <p>Signed in as ${renderName(page.userName)}</p>
    <button class="link small">Use another account</button>
  </form>`
}

function renderHidden({ csrf, request }: ConsentPage): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}" />
    <input type="hidden" name="request" value="${request}" />`
}

function renderScope({ name, description }: ConsentScope): Html {
  if (description === undefined) return html`<li><code>${name}</code></li> `
  return html`<li class="described">${description} <code>${name}</code></li> `
}

/** A web site is known by its address; what runs on the device itself is whatever was started there (RFC 8252 §8.6). */
function renderRedirect({ clientName, redirectHost, isPublic, isReference }: ConsentPage): Html {
  if (isReference) return html`<p class="next soft small">You will then return to the API reference.</p>`
  const isScheme = redirectHost.endsWith(':')
  const leadsToDevice = isScheme || isOnDevice(redirectHost.replace(/:\d+$/, ''))
  const hint = html`<p class="box note">
    Any program on this device can claim to be ${renderName(clientName)}. Allow access only if you have just started it
    yourself.
  </p>`
  const where = leadsToDevice ? 'a program on this device, ' : undefined
  const name = isScheme ? redirectHost.slice(0, -1) : redirectHost
  return html`${isPublic && leadsToDevice ? hint : undefined}
    <p class="next soft small">You will then be redirected to ${where}${renderName(name)}.</p>`
}
