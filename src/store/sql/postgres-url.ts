import { isIPv6 } from 'node:net'

/** Host and database of PostgreSQL, for messages. */
export interface PostgresTarget {
  readonly host: string
  readonly database: string
}

/** The parts of an address of PostgreSQL, decoded. */
export interface PostgresUrl {
  readonly target: PostgresTarget
  /** Undefined if the address has none: then the variables of libpq (`PGHOST` …) apply. */
  readonly host: string | undefined
  readonly port: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  /** Without those parts. */
  readonly options: URLSearchParams
}

/** `URL` parses an address without a host only if it has no user: `postgresql://ann:secret@/shop?host=/cloudsql/x`. */
const noHost = 'no-host.invalid'
const hostless = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?=[:/?#]|$)/

/** Removes the password from a URL. */
export function redactUrl(url: string): string {
  if (url.startsWith('sqlite:')) return url
  const complete = url.replace(hostless, `$1${noHost}`)
  if (URL.canParse(complete)) {
    const parsed = new URL(complete)
    if (!`${parsed.pathname}${parsed.search}${parsed.hash}`.includes('@'))
      return withoutPassword(parsed).replace(noHost, '')
  }
  // An invalid password may contain characters that should be written as %2F or %23, and the scheme may be misspelled.
  return url.replaceAll(/([?&](?:ssl)?password=)[^&]*/g, '$1').replace(/^([\w+.-]*:?\/*[^:/?#@]*):.*@/s, '$1@')
}

function withoutPassword(url: URL): string {
  url.password = ''
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.href
}

/** Parses the parts of an address, or returns undefined if it is invalid. */
export function parsePostgresUrl(url: string): PostgresUrl | undefined {
  const complete = url.replace(hostless, `$1${noHost}`)
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(complete)) return undefined
  const parsed = new URL(complete)
  // An "@", "/" or "#" of a password that is not written as %40, %2F or %23 ends it.
  if (parsed.hash !== '' || /[@/]/.test(parsed.pathname.slice(1))) return undefined
  const options = new URLSearchParams(parsed.search)
  const take = (name: string, otherwise: string) => {
    const value = options.get(name) || decode(otherwise)
    options.delete(name)
    return value
  }
  try {
    const host = take('host', parsed.hostname === noHost ? '' : parsed.hostname.replaceAll(/[[\]]/g, ''))
    const port = take('port', parsed.port)
    const user = take('user', parsed.username)
    const password = take('password', parsed.password)
    const database = decode(parsed.pathname.slice(1)) ?? options.get('dbname') ?? user
    options.delete('dbname')
    const shown = host !== undefined && isIPv6(host) ? `[${host}]` : (host ?? 'localhost')
    const target = { host: port === undefined ? shown : `${shown}:${port}`, database: database ?? '' }
    return { target, host, port, user, password, database, options }
  } catch {
    return undefined // an invalid percent escape
  }
}

function decode(text: string): string | undefined {
  return decodeURIComponent(text) || undefined
}
