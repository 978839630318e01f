import { config, type Config } from '../config.ts'

/** The colours of the setting `accent` in one colour scheme. */
export interface AccentColours {
  /** The background of buttons. */
  readonly fill: string
  /** Text on `fill`. */
  readonly onFill: string
  /** Links and focus. */
  readonly text: string
}

/** What the server tells the pages of the portal; see src/backend/ui/. */
export interface PortalConfig extends Config {
  readonly description: string
  readonly accent: { readonly light: AccentColours; readonly dark: AccentColours } | null
  /** Whether visitors may create an account. */
  readonly canRegister: boolean
  /** Who may read the API reference. */
  readonly docs: 'public' | 'private' | 'off'
}

export const portal = config as PortalConfig
