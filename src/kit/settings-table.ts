/** One setting under `config:`. Durations and sizes are written as text, for example `1h` and `1mb`. */
export type SettingRow = {
  /** What the pages of the backend call it. */
  readonly label: string
  readonly group: SettingGroup
  readonly description: string
} & (
  | { readonly kind: 'duration'; readonly default: string; readonly minimum?: string; readonly maximum?: string }
  | { readonly kind: 'size'; readonly default: string; readonly minimum?: string; readonly maximum?: string }
  | { readonly kind: 'count'; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'flag'; readonly default: boolean }
  /** One line; empty for none. */
  | { readonly kind: 'text'; readonly default: string; readonly maximum: number }
  /** A colour such as `#1f6feb`; empty for none. */
  | { readonly kind: 'color'; readonly default: string }
  | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }
  | {
      readonly kind: 'list'
      readonly of: 'scope' | 'duration' | 'range' | 'origin'
      readonly default: readonly string[]
      /** The exact number of items. */
      readonly length?: number
    }
  | {
      readonly kind: 'durations'
      readonly default: Readonly<Record<string, string>>
      /** What the pages of the backend call each of them. */
      readonly labels: Readonly<Record<string, string>>
    }
)

/** The groups of the page Settings. */
export type SettingGroup = 'Service' | 'Sign-in and tokens' | 'Requests' | 'Deliveries' | 'Deployments' | 'Retention'

/** Every setting of a project with its default, grouped. This is the only list of settings. */
export const settingsTable = {
  title: {
    label: 'Name',
    group: 'Service',
    kind: 'text',
    default: '',
    maximum: 60,
    description: 'The name of the service on the login page, in /docs and in the portal; by default the host name',
  },
  description: {
    label: 'Description',
    group: 'Service',
    kind: 'text',
    default: '',
    maximum: 500,
    description: 'What the service is, on the login page, in /docs and in the portal',
  },
  accent: {
    label: 'Accent color',
    group: 'Service',
    kind: 'color',
    default: '',
    description:
      'The color of buttons and links on the login page and in the portal, for example #1f6feb (quote it in YAML)',
  },
  portal: {
    label: 'Portal',
    group: 'Service',
    kind: 'flag',
    default: false,
    description: 'Serves the portal for consumers of the API at /portal',
  },
  docs: {
    label: 'API reference',
    group: 'Service',
    kind: 'choice',
    default: 'public',
    choices: ['public', 'private', 'off'],
    description: 'Who may read /docs and /openapi.json',
  },
  registration: {
    label: 'Registration',
    group: 'Sign-in and tokens',
    kind: 'flag',
    default: false,
    description: 'Allows people to register themselves',
  },
  scopes_default: {
    label: 'Default scopes',
    group: 'Sign-in and tokens',
    kind: 'list',
    of: 'scope',
    default: ['consumer'],
    description: 'Scopes that every new user gets',
  },
  token_lifetime: {
    label: 'Access token lifetime',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '1h',
    minimum: '1s',
    maximum: '365d',
    description: 'Lifetime of access tokens',
  },
  token_algorithm: {
    label: 'Signature of access tokens',
    group: 'Sign-in and tokens',
    kind: 'choice',
    default: 'ES256',
    choices: ['ES256', 'RS256'],
    description: 'Signature algorithm of access tokens; use RS256 for verifiers that do not support ES256 (RFC 9068)',
  },
  refresh_lifetime: {
    label: 'Refresh token lifetime',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '30d',
    minimum: '1s',
    maximum: '3650d',
    description: 'Lifetime of refresh tokens',
  },
  refresh_family_lifetime: {
    label: 'Login lifetime',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '90d',
    minimum: '1s',
    maximum: '3650d',
    description: 'Maximum total lifetime of a login, including all its refreshes',
  },
  refresh_grace: {
    label: 'Refresh grace period',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '10s',
    maximum: '1h',
    description: 'Time during which a repeated refresh returns the same refresh token',
  },
  code_lifetime: {
    label: 'Authorization code lifetime',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '60s',
    minimum: '1s',
    maximum: '10m',
    description: 'Lifetime of authorization codes',
  },
  backend_session: {
    label: 'Backend sessions',
    group: 'Sign-in and tokens',
    kind: 'duration',
    default: '8h',
    minimum: '1m',
    maximum: '30d',
    description: 'Time after which users of the backend must enter their password again',
  },
  body_limit: {
    label: 'Request size',
    group: 'Requests',
    kind: 'size',
    default: '1mb',
    minimum: '1b',
    maximum: '1gb',
    description: 'Maximum size of a request body',
  },
  upload_space: {
    label: 'Space for uploads',
    group: 'Requests',
    kind: 'size',
    default: '1gb',
    minimum: '1mb',
    maximum: '1024gb',
    description:
      'Disk space for the temporary files of all uploads of a process; further uploads get 503 until others have finished',
  },
  compression: {
    label: 'Compression',
    group: 'Requests',
    kind: 'flag',
    default: false,
    description: 'Whether responses of 1 KB and more are compressed for callers that accept it',
  },
  streams_per_principal: {
    label: 'Open streams of a caller',
    group: 'Requests',
    kind: 'count',
    default: 20,
    minimum: 1,
    maximum: 100_000,
    description:
      'Maximum number of event streams that one user, or one address without a token, may have open at the same time on each server',
  },
  cors: {
    label: 'Browser origins',
    group: 'Requests',
    kind: 'list',
    of: 'origin',
    default: [],
    description: 'Origins that may call the API from a browser, for example https://app.example.com',
  },
  delivery_delays: {
    label: 'Retry delays',
    group: 'Deliveries',
    kind: 'list',
    of: 'duration',
    default: ['1m', '10m', '1h'],
    length: 3,
    description: 'Delays before the three retries of a delivery',
  },
  delivery_timeout: {
    label: 'Timeout',
    group: 'Deliveries',
    kind: 'duration',
    default: '15s',
    minimum: '1s',
    maximum: '5m',
    description: 'Time limit for the response of a subscriber',
  },
  delivery_allow: {
    label: 'Private addresses',
    group: 'Deliveries',
    kind: 'list',
    of: 'range',
    default: [],
    description: 'Private address ranges that deliveries may be sent to, for example 10.0.0.0/8',
  },
  delivery_concurrency: {
    label: 'Concurrent deliveries',
    group: 'Deliveries',
    kind: 'count',
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of concurrent deliveries per worker',
  },
  delivery_concurrency_per_endpoint: {
    label: 'Concurrent deliveries to an endpoint',
    group: 'Deliveries',
    kind: 'count',
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of concurrent deliveries to the same endpoint',
  },
  listener_memory: {
    label: 'Memory of listeners',
    group: 'Deliveries',
    kind: 'size',
    default: '512mb',
    minimum: '64mb',
    maximum: '64gb',
    description: 'Maximum memory of each process that runs listeners',
  },
  subscription_limit: {
    label: 'Subscriptions of a user',
    group: 'Deliveries',
    kind: 'count',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of subscriptions per user',
  },
  breaking_changes: {
    label: 'Breaking changes',
    group: 'Deployments',
    kind: 'choice',
    default: 'warn',
    choices: ['warn', 'forbid'],
    description: 'Whether deployments may contain breaking changes',
  },
  keep: {
    label: 'Retention periods',
    group: 'Retention',
    kind: 'durations',
    default: {
      messages: '30d',
      deliveries: '30d',
      attempts: '30d',
      tokens: '1d',
      families: '30d',
      codes: '1d',
      sessions: '1d',
      feed: '7d',
      throttles: '1d',
      releases: '90d',
      audit: '365d',
    },
    labels: {
      messages: 'Messages of events',
      deliveries: 'Finished deliveries',
      attempts: 'Attempts of deliveries',
      tokens: 'Ended access tokens',
      families: 'Ended logins',
      codes: 'Authorization codes',
      sessions: 'Ended sessions',
      feed: 'Change feed',
      throttles: 'Failed logins',
      releases: 'Previous releases',
      audit: 'Audit log',
    },
    description: 'Retention periods',
  },
} as const satisfies Readonly<Record<string, SettingRow>>

export type SettingName = keyof typeof settingsTable

type ValueOf<Row> = Row extends { kind: 'duration' | 'size' | 'count' }
  ? number
  : Row extends { kind: 'flag' }
    ? boolean
    : Row extends { kind: 'text' | 'color' }
      ? string
      : Row extends { kind: 'choice'; choices: readonly (infer Choice)[] }
        ? Choice
        : Row extends { kind: 'list'; of: 'duration' }
          ? readonly number[]
          : Row extends { kind: 'durations'; default: infer Names }
            ? { readonly [Name in keyof Names]: number }
            : readonly string[]

/** Every setting with its value: durations in milliseconds, sizes in bytes. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingsTable)[Name]> }
