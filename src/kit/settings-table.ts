/** One setting that may stand under `config:`. Durations and sizes are written as text, for example `1h` and `1mb`. */
export type SettingRow = { readonly description: string } & (
  | { readonly kind: 'duration'; readonly default: string; readonly minimum?: string; readonly maximum?: string }
  | { readonly kind: 'size'; readonly default: string; readonly minimum?: string; readonly maximum?: string }
  | { readonly kind: 'count'; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'flag'; readonly default: boolean }
  | { readonly kind: 'choice'; readonly default: string; readonly choices: readonly string[] }
  | {
      readonly kind: 'list'
      readonly of: 'scope' | 'duration' | 'range' | 'origin'
      readonly default: readonly string[]
      /** Exactly so many items. */
      readonly length?: number
    }
  | { readonly kind: 'durations'; readonly default: Readonly<Record<string, string>> }
)

/** Every setting that a project may make, with its default: the one place where they are listed. */
export const settingsTable = {
  token_lifetime: {
    kind: 'duration',
    default: '1h',
    minimum: '1s',
    maximum: '365d',
    description: 'How long an access token is valid',
  },
  refresh_lifetime: {
    kind: 'duration',
    default: '30d',
    minimum: '1s',
    maximum: '3650d',
    description: 'How long a refresh token is valid',
  },
  refresh_family_lifetime: {
    kind: 'duration',
    default: '90d',
    minimum: '1s',
    maximum: '3650d',
    description: 'How long a login can be renewed by refresh tokens in all',
  },
  refresh_grace: {
    kind: 'duration',
    default: '10s',
    maximum: '1h',
    description: 'How long a refresh that is repeated gives the same refresh token',
  },
  code_lifetime: {
    kind: 'duration',
    default: '60s',
    minimum: '1s',
    maximum: '10m',
    description: 'How long an authorization code is valid',
  },
  scopes_default: { kind: 'list', of: 'scope', default: ['consumer'], description: 'Scopes that every new user gets' },
  registration: { kind: 'flag', default: false, description: 'Whether people may register themselves' },
  delivery_delays: {
    kind: 'list',
    of: 'duration',
    default: ['1m', '10m', '1h'],
    length: 3,
    description: 'How long to wait before each of the three resends of a delivery',
  },
  delivery_timeout: {
    kind: 'duration',
    default: '15s',
    minimum: '1s',
    maximum: '5m',
    description: 'How long a subscriber may take to answer',
  },
  delivery_lease: {
    kind: 'duration',
    default: '60s',
    minimum: '6s',
    maximum: '1h',
    description: 'How long a worker keeps a claimed delivery; at least 5 s more than delivery_timeout',
  },
  delivery_allow: {
    kind: 'list',
    of: 'range',
    default: [],
    description: 'Private address ranges that deliveries may reach, for example 10.0.0.0/8',
  },
  delivery_concurrency: {
    kind: 'count',
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'How many deliveries one worker makes at once',
  },
  delivery_concurrency_per_endpoint: {
    kind: 'count',
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description: 'How many of them may go to the same endpoint',
  },
  subscription_limit: {
    kind: 'count',
    default: 100,
    minimum: 1,
    maximum: 1_000_000,
    description: 'How many subscriptions a user may have',
  },
  keep: {
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
      audit: '365d',
      releases: '90d',
      logs: '14d',
    },
    description: 'How long what is over is kept',
  },
  body_limit: {
    kind: 'size',
    default: '1mb',
    minimum: '1b',
    maximum: '1gb',
    description: 'The largest request body that is read',
  },
  cors: {
    kind: 'list',
    of: 'origin',
    default: [],
    description: 'Origins whose pages may call the API, for example https://app.example.com',
  },
  docs: {
    kind: 'choice',
    default: 'public',
    choices: ['public', 'private', 'off'],
    description: 'Who may read /docs and /openapi.json',
  },
  breaking_changes: {
    kind: 'choice',
    default: 'warn',
    choices: ['warn', 'forbid'],
    description: 'What a deployment does with changes that break callers',
  },
} as const satisfies Readonly<Record<string, SettingRow>>

export type SettingName = keyof typeof settingsTable

type ValueOf<Row> = Row extends { kind: 'duration' | 'size' | 'count' }
  ? number
  : Row extends { kind: 'flag' }
    ? boolean
    : Row extends { kind: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : Row extends { kind: 'list'; of: 'duration' }
        ? readonly number[]
        : Row extends { kind: 'durations'; default: infer Names }
          ? { readonly [Name in keyof Names]: number }
          : readonly string[]

/** Every setting with its value: durations in milliseconds, sizes in bytes. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingsTable)[Name]> }
