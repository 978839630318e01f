import { BlockList, isIP } from 'node:net'
import { variable, type Variables } from '../kit/index.ts'
import { addRange } from './addresses.ts'

/** The proxies for outgoing HTTP. */
export interface Proxies {
  /** URLs; empty for none. */
  readonly httpProxy: string
  readonly httpsProxy: string
  /** Hosts that are connected to directly, as in `NO_PROXY`. */
  readonly noProxy: string
  /** Host names of those URLs that stand for a value that is not the URL of a proxy, with the variable. */
  readonly unusable: ReadonlyMap<string, string>
  /** Whether `noProxy` has the range of an address. */
  isDirect(address: string): boolean
}

const loopback = 'localhost,127.0.0.1,::1'

/**
 * Reads the variables that curl and other programs read, in upper or lower case: HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
 * @returns undefined if no proxy is set
 */
export function readProxies(variables: Variables): Proxies | undefined {
  const read = (name: string) => variable(variables, name.toLowerCase()) ?? variable(variables, name)
  const unusable = new Map<string, string>()
  const readUrl = (name: string) => {
    const text = read(name)?.trim()
    if (text === undefined) return ''
    const url = URL.parse(text.includes('://') ? text : `http://${text}`)
    if (url !== null && /^https?:$/.test(url.protocol)) return url.href
    // Not connected to directly instead, because the network or its rules may demand a proxy.
    const host = `${name.toLowerCase().replace('_', '-')}.invalid`
    unusable.set(host, name)
    return `http://${host}`
  }
  const [httpProxy, httpsProxy, noProxy = ''] = [readUrl('HTTP_PROXY'), readUrl('HTTPS_PROXY'), read('NO_PROXY')]
  if (httpProxy === '' && httpsProxy === '') return undefined
  const direct = new BlockList()
  for (const range of ['127.0.0.0/8', ...noProxy.split(/[\s,]+/).filter((one) => one.includes('/'))])
    addRange(direct, range)
  return {
    httpProxy,
    httpsProxy,
    unusable,
    noProxy: `${noProxy},${loopback}`,
    isDirect: (address) => isIP(address) !== 0 && direct.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6'),
  }
}
