import { config, type Config } from '../config.ts'

/** What the server tells the pages of the portal; see src/runtime/ui/mount-portal.ts. */
export interface PortalConfig extends Config {
  readonly description: string
  /** Whether visitors may create an account. */
  readonly canRegister: boolean
  /** Who may read the API reference. */
  readonly docs: 'public' | 'private' | 'off'
}

export const portal = config as PortalConfig
