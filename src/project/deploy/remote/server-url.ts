import { errors } from './errors.ts'

/** The address of a server, without a slash at its end. Credentials go there: it is https, or on this machine. @throws WP_PROJECT_REMOTE_URL */
export function parseServerUrl(text: string): string {
  const url = URL.parse(text)
  const refuse = (reason: string) => errors.WP_PROJECT_REMOTE_URL({ url: withoutSecrets(text, url), reason })
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse('it is no https address')
  if (url.username !== '' || url.password !== '') throw refuse('credentials do not stand in it')
  if (url.search !== '' || url.hash !== '') throw refuse('it has a query or a fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw refuse('credentials are sent over https only, but to this machine')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function withoutSecrets(text: string, url: URL | null): string {
  if (url === null) return text.slice(0, 200)
  return Object.assign(new URL(url), { username: '', password: '', search: '', hash: '' }).href
}
