import { nearest } from '../../kit/index.ts'
import type { ClientConfig } from 'pg'
import { errors } from './errors.ts'
import { isTlsFailure, takeTlsOptions, wrong, type TlsOptions } from './postgres-tls.ts'
import { hidden, parsePostgresUrl, redactUrl, type PostgresTarget } from './postgres-url.ts'

/** How to connect to an address. */
export interface PostgresAddress {
  readonly target: PostgresTarget
  /** The schemas in which tables are looked up; by default those of the role. */
  readonly searchPath: SearchPath | undefined
  /** Whether a connection is allowed only if its login is bound to the certificate of the server. */
  readonly requiresBinding: boolean
  /** Starts to connect once. */
  begin(): ConnectionAttempt
  /** Whether to try again at once with TLS, or without: for `sslmode=prefer` and `allow`. */
  isWorthRetry(error: unknown): boolean
}

export interface ConnectionAttempt {
  readonly config: ClientConfig
  failed(error: unknown): void
}

export interface SearchPath {
  /** The option that sets it. */
  readonly name: string
  readonly value: string
}

/** The names that libpq, JDBC and Prisma use. */
const schemaOptions = ['search_path', 'currentSchema', 'schema'] as const

/** Options that Waypost has its own values for. */
const ownValues: ReadonlySet<string> = new Set([
  'connect_timeout',
  'fallback_application_name',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
])

/** Options of Prisma and Supabase for their own clients, which programs that share an address leave in it. */
const ofOthers: ReadonlySet<string> = new Set([
  'pgbouncer',
  'connection_limit',
  'pool_timeout',
  'statement_cache_size',
  'supa',
])

const onlyUtf8 = 'Waypost reads and writes UTF-8'
const oneServer = 'Waypost connects to one server: use an address that always points to the primary'
const unsupported = 'the driver does not support it'

/** Options of which only some values are possible. Others would be ignored, and connections be less safe or wrong. */
const possible: Readonly<Record<string, readonly [values: readonly string[], reason: string]>> = {
  client_encoding: [['utf8', 'utf-8', 'unicode', 'auto'], onlyUtf8],
  target_session_attrs: [['any'], oneServer],
  load_balance_hosts: [['disable'], oneServer],
  hostaddr: [[], 'use host'],
  gssencmode: [['disable', 'prefer'], unsupported],
  channel_binding: [['disable', 'prefer', 'require'], 'it is not one of disable, prefer, require'],
  sslnegotiation: [['postgres', 'direct'], 'it is not one of postgres, direct'],
  sslcompression: [['0'], unsupported],
  sslsni: [['1'], unsupported],
}

const read = 'user password host port dbname sslmode ssl sslrootcert sslcert sslkey options application_name'
const known = [...read.split(' '), ...schemaOptions, ...ownValues, ...Object.keys(possible)]

/** How long a connection that needed another way than the first decides for others. */
const otherWayMs = 60_000

/**
 * Reads an address as libpq does. `pg` gets no part of the address that is not read here, because it understands some
 * options in another way, such as `ssl=0` beside `sslmode=verify-full`.
 * @throws WP_STORE_URL_INVALID, WP_STORE_URL_OPTION
 */
export function parsePostgresAddress(url: string): PostgresAddress {
  assertOneHost(url)
  const parts = parsePostgresUrl(url)
  if (parts === undefined) throw errors.WP_STORE_URL_INVALID({ url: redactUrl(url) })
  const { target, options: query, host, port, user, password, database } = parts
  if (port !== undefined && !/^\d{1,5}$/.test(port)) throw wrong('port', port, 'it is not a port')
  for (const name of new Set(query.keys())) {
    if (query.getAll(name).length > 1) throw wrong(name, hidden, 'it is repeated')
  }
  const tls = takeTlsOptions(query, host)
  const searchPath = takeSearchPath(query)
  // The name of an option may be a part of a password that contains "?" or "&", such as "?password=s3&cret".
  const isUnclear = /[?&](ssl)?password=|\?.*@/s.test(url)
  assertPossible(query, (name) => (isUnclear || query.get(name) === '' ? hidden : name))
  const get = (name: string) => query.get(name) ?? undefined
  const isDirect = query.get('sslnegotiation') === 'direct'
  if (isDirect && isWeak(tls)) throw wrong('sslnegotiation', 'direct', 'it requires sslmode=require or verify-full')
  const requiresBinding = query.get('channel_binding') === 'require'
  if (requiresBinding && isWeak(tls))
    throw wrong('channel_binding', 'require', 'it requires sslmode=require or verify-full')
  const config: ClientConfig = {
    ...defined({ host, port: port === undefined ? undefined : Number(port), user, password, database }),
    ...defined({ options: get('options'), application_name: get('application_name') }),
    sslnegotiation: isDirect ? 'direct' : 'postgres',
    enableChannelBinding: ['prefer', 'require'].includes(query.get('channel_binding') ?? ''),
  }
  return { target, searchPath, requiresBinding, ...makeAttempts(config, tls) }
}

/**
 * Adds the search path of an address to another address of the same database.
 * @throws WP_STORE_URL_OPTION
 */
export function withSearchPathOf(url: string, other: string): string {
  const path = parsePostgresAddress(other).searchPath
  if (path === undefined) return url
  const own = parsePostgresAddress(url).searchPath
  if (own === undefined) return `${url}${url.includes('?') ? '&' : '?'}search_path=${encodeURIComponent(path.value)}`
  if (own.value !== path.value)
    throw wrong(own.name, own.value, `the other address of this database has "${path.value}"`)
  return url
}

function makeAttempts(config: ClientConfig, tls: TlsOptions): Pick<PostgresAddress, 'begin' | 'isWorthRetry'> {
  const worthRetry = new WeakSet<object>()
  const isFirstEncrypted = tls.mode !== 'allow'
  let otherUntil = -Infinity
  return {
    begin() {
      const isFirst = performance.now() >= otherUntil
      const ssl = isFirst === isFirstEncrypted ? tls.load() : false
      return {
        config: { ...config, ...defined({ ssl }) },
        failed(error) {
          if (tls.mode !== 'prefer' && tls.mode !== 'allow') return
          const isOther = isRejected(error) || (ssl !== false && isTlsFailure(error))
          if (!isOther) return
          // If the other way fails too, the next connection begins with the first one.
          otherUntil = isFirst ? performance.now() + otherWayMs : -Infinity
          if (isFirst) worthRetry.add(error as object)
        },
      }
    },
    isWorthRetry: (error) => worthRetry.has(error as object),
  }
}

/** Whether `pg_hba.conf` may reject the connection only because it is encrypted, or is not. */
function isRejected(error: unknown): boolean {
  return (error as { readonly code?: string }).code === '28000'
}

function isWeak({ mode }: TlsOptions): boolean {
  return [undefined, 'disable', 'allow', 'prefer'].includes(mode)
}

function assertOneHost(url: string): void {
  // An "@" behind it belongs to a password that is not written correctly.
  const [, user, hosts = '', options = ''] =
    /^postgres(?:ql)?:\/\/([^/?#]*@)?([^/?#@]*)[^?@]*(?:\?([^@]*))?$/.exec(url) ?? []
  const query = new URLSearchParams(options)
  const several = [hosts, query.get('host'), query.get('port')].find((value) => value?.includes(','))
  if (!several) return
  // Without an "@" before it, "ann:s3,cret" may be a user and the beginning of a password.
  const areHosts = user !== undefined && several.split(',').every((one) => /^[^:]*(:\d{1,5})?$/.test(one))
  throw wrong('host', areHosts || !several.includes(':') ? several : hidden, oneServer)
}

function takeSearchPath(query: URLSearchParams): SearchPath | undefined {
  const [name, other] = schemaOptions.filter((option) => query.has(option))
  if (name === undefined) return undefined
  if (other !== undefined) throw wrong(other, query.get(other)!, `"${name}" sets the same`)
  const value = query.get(name)!
  query.delete(name)
  return { name, value }
}

function assertPossible(query: URLSearchParams, show: (name: string) => string): void {
  for (const [name, value] of query) {
    const rule = Object.hasOwn(possible, name) ? possible[name] : undefined
    if (rule !== undefined && !rule[0].includes(value.toLowerCase())) throw wrong(name, value, rule[1])
    if (known.includes(name) || ofOthers.has(name)) continue
    const similar = nearest(name, known)
    throw similar === undefined
      ? wrong(show(name), hidden, 'Waypost does not know it')
      : wrong(name, hidden, `did you mean "${similar}"?`)
  }
}

function defined<Values extends object>(values: Values): { [Key in keyof Values]?: NonNullable<Values[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
