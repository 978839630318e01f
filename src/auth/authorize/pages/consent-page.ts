import { isOnDevice } from '../../account/redirect-uris.ts'
import { html, type Html } from './html.ts'
import { renderBadge, renderName, renderPage } from './page.ts'

export interface ConsentPage {
  /** The prefix of form paths: the path of the issuer, or empty. */
  readonly base: string
  /** The name of the service that the account belongs to. */
  readonly service: string
  /** The setting `accent`. */
  readonly accent: string
  readonly clientName: string
  readonly userName: string
  readonly scopes: readonly ConsentScope[]
  /**
   * Where the browser goes next: the host of the redirect URI with its port or, without a host, the scheme with its
   * colon.
   */
  readonly redirectHost: string
  /** The client has no secret. */
  readonly isPublic: boolean
  /** The client is this server's own API reference, so the browser stays on this server. */
  readonly isReference: boolean
  /** The owner of the client and when it was registered, in milliseconds since 1970. Undefined for built-in clients. */
  readonly registered: { readonly by: string; readonly at: number } | undefined
  readonly csrf: string
  /** The query of the authorization request. */
  readonly request: string
}

interface ConsentScope {
  readonly name: string
  readonly description?: string | undefined
}

/** Renders the page that asks whether a client may have access. */
export function renderConsent(page: ConsentPage): string {
  const { base, clientName, service, scopes } = page
  return renderPage(
    `Allow access to your ${service} account`,
    html`${renderBadge(clientName, 'client')}
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
    page.accent,
  )
}

/** Shows the owner, because anyone can give an app any name. */
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
  if (description === undefined) return html`<li><code translate="no">${name}</code></li> `
  return html`<li class="described">${description} <code translate="no">${name}</code></li> `
}

/** A website is identified by its address; a redirect to the device may reach any program (RFC 8252 §8.6). */
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
