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
const hostless = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)(?![^/?#]*@)(?=[:/?#]|$)/

/** Options that never contain a secret, nor the rest of one with an "&". */
const shownOptions: ReadonlySet<string> = new Set(['host', 'port', 'dbname', 'user', 'sslmode'])

/** Shown instead of what may be a password. */
export const hidden = '…'

/** Removes the password from a URL, and what may be a part of it. */
export function redactUrl(url: string): string {
  if (url.startsWith('sqlite:')) return url
  const parsed = /^\w+:\/\//.test(url) ? URL.parse(url.replace(hostless, `$1${noHost}`)) : null
  if (parsed !== null && parsed.hash === '' && !`${parsed.pathname}${parsed.search}`.includes('@')) {
    parsed.password = ''
    const options = [...parsed.searchParams].filter(([name]) => shownOptions.has(name))
    parsed.search = new URLSearchParams(options).toString()
    return parsed.href.replace(noHost, '')
  }
  // A password may contain characters that should be written as %2F or %23, or be cut off at "#" in a file of variables,
  // and the scheme may be misspelled.
  const [, start = '', rest = ''] = /^([\w+.-]*:?\/\/)?(.*)$/s.exec(url)!
  const [name] = /^[^:/?#@]*/.exec(rest)!
  const at = rest.lastIndexOf('@')
  if (at === -1) return /[:#]/.test(rest) ? `${start}${name}${hidden}` : `${start}${rest.replace(/\?.*/s, '')}`
  const isInOption = /[?&]\w+=/.test(rest.slice(0, at))
  return isInOption ? `${start}${name}${hidden}` : `${start}${name}@${rest.slice(at + 1).replace(/[?#].*/s, '')}`
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
