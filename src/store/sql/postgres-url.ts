/** An address as it may be shown: without its password. */
export function redactUrl(url: string): string {
  const shown = URL.canParse(url) ? withoutPassword(new URL(url)) : url
  return shown.replace(/(:\/\/[^/?#]*?):[^/?#]*@/, '$1@') // the text of an address that cannot be parsed
}

function withoutPassword(url: URL): string {
  url.password = ''
  for (const name of ['password', 'sslpassword']) url.searchParams.delete(name)
  return url.href
}

/** Host and database of an address, for messages; undefined if it is none. */
export function parsePostgresUrl(url: string): { readonly host: string; readonly database: string } | undefined {
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(url)) return undefined
  const parsed = new URL(url)
  const host = parsed.host || parsed.searchParams.get('host') || 'localhost'
  const database = decodeURIComponent(parsed.pathname.slice(1))
  return { host, database: database || parsed.username }
}
