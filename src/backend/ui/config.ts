/** The colours of the setting `accent` in one colour scheme. */
export interface AccentColours {
  /** The background of buttons. */
  readonly fill: string
  /** The background of buttons below the pointer. */
  readonly hover: string
  /** Links and focus. */
  readonly text: string
}

/** What the server tells the pages of the backend and of the portal; see src/runtime/ui/mount-ui.ts. */
export interface Config {
  readonly base: string
  readonly issuer: string
  readonly origin: string
  readonly clientId: string
  readonly redirectPath: string
  readonly service: string
  readonly version: string
  readonly isReadOnly: boolean
  readonly isDevelopment: boolean
  /** The colours of the service, on its portal; null for those of Waypost. */
  readonly accent?: { readonly light: AccentColours; readonly dark: AccentColours } | null
}

const element = document.querySelector<HTMLElement>('#config')

export const config = JSON.parse(element?.textContent ?? '{}') as Config

/** The nonce of styles that components insert. */
export const nonce = element?.dataset['nonce'] ?? ''

const ownPath = (config.redirectPath ?? '').replace(/\/signed-in$/, '')

/** The path below which the pages are. */
export const uiPath = config.base + ownPath

/** The path of the API that the pages call: the admin API, or the account API. */
export const apiPath = config.base + (ownPath === '/portal' ? '/consumer' : '/backend')

/** Whether the pages edit a definition: the folder in `dev`, the draft of a server. */
export const hasDraft = config.isDevelopment || !config.isReadOnly

/** The URL of the OAuth2 endpoints. In `dev`, the server has several names, and the one in the address bar works. */
export const issuer = config.isDevelopment ? location.origin + config.base : config.issuer

export const redirectUri = location.origin + config.base + config.redirectPath
