// Shapes of the account API, as docs/consumer.md and docs/events.md describe them. `send` calls it.
import type { Attempt } from '../components/attempts.tsx'

export interface Account {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly scopes: readonly string[]
  readonly created: string
}

export interface Client {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly grants: readonly string[]
  readonly redirect_uris: readonly string[]
  readonly public: boolean
  readonly status: 'active' | 'disabled'
  readonly disabled_by?: 'administrator' | 'owner'
  readonly created: string
  /** Only in the response that creates it. */
  readonly secret?: string
}

export interface ClientReference {
  readonly id: string
  readonly name: string
}

export interface Token {
  /** Null if there is no valid access token, but its family can get one. */
  readonly jti: string | null
  readonly family: string | null
  readonly client: ClientReference
  /** Separated by spaces. */
  readonly scope: string
  readonly created: string
  readonly expires: string
  readonly last_used: string | null
  /** Whether it is the token of this request. */
  readonly current: boolean
}

export interface Grant {
  readonly client: ClientReference
  readonly scopes: readonly string[]
  readonly since: string
  readonly last_used: string | null
}

export interface Scope {
  readonly name: string
  readonly description: string | null
}

export interface EventEntry {
  readonly name: string
  readonly description: string | null
  readonly scopes: readonly string[]
}

export interface EventDetails extends EventEntry {
  readonly schema: unknown
  /** The schemas that `schema` refers to, by name. */
  readonly schemas: Readonly<Record<string, unknown>>
  readonly example: unknown
}

export interface Subscription {
  readonly id: string
  readonly event: string
  readonly endpoint: string
  readonly status: 'active' | 'paused' | 'disabled'
  /** Null if it was created before clients were recorded. */
  readonly client: (Pick<ClientReference, 'id'> & { readonly name: string | null }) | null
  readonly created: string
  /** Present if the client of another user created it: the user can only pause, enable and delete it. */
  readonly third_party?: true
  readonly disabled_by?: 'administrator'
  /** Present after many failures in a row: nothing is sent before this time. */
  readonly postponed_until?: string
  /** Present while a replaced secret also signs; not in lists. */
  readonly previous_secret_until?: string
  /** Only in the response that creates it or replaces it. */
  readonly secret?: string
}

export interface Delivery {
  readonly id: string
  readonly event: string | null
  readonly status: 'pending' | 'delivered' | 'dead' | 'cancelled'
  readonly failures: number
  readonly due: string | null
  readonly created: string
  readonly finished: string | null
  readonly replayed: string | null
  /** The newest ten, oldest first. */
  readonly attempts: readonly Attempt[]
}

export interface DeliveryDetails extends Delivery {
  /** The text that was sent; null if it was deleted, or if the user may no longer receive the event. */
  readonly body: string | null
  /** Whether `body` is only its first 64 KB. */
  readonly is_body_truncated: boolean
}

export interface List<Entry> {
  readonly entry: readonly Entry[]
  readonly next?: string
}
