import { lookup as lookUp } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, EnvHttpProxyAgent, fetch, type Dispatcher } from 'undici'
import type { AddressPolicy } from './addresses.ts'
import { isUnknownName, type Lookup } from './resolve-names.ts'
import { errors } from './errors.ts'
import type { Proxies } from './read-proxies.ts'

export interface ProxyGuard {
  readonly policy: AddressPolicy
  readonly lookup: Lookup
  onOpened(host: string): void
}

export interface ProxyAgent {
  readonly agent: Dispatcher
  /** That of the same package as the agent. */
  readonly fetch: typeof fetch
  destroy(): Promise<void>
}

/**
 * Opens an agent that sends requests through proxies. A proxy resolves names itself, so what it connects to cannot be
 * checked. With a guard, the addresses that this machine finds for a name must be allowed; a name that it does not know is
 * left to the proxy.
 */
export function openProxyAgent(proxies: Proxies, options: Agent.Options, guard?: ProxyGuard): ProxyAgent {
  const { isDirect, unusable, ...settings } = proxies
  const direct = new Agent(options)
  const lookupProxy: LookupFunction = (host, lookupOptions, done) => {
    const variable = unusable.get(host)
    if (variable === undefined) lookUp(host, lookupOptions, done)
    else done(errors.WP_OUTBOUND_PROXY({ variable }), '')
  }
  const proxied = new EnvHttpProxyAgent({ ...options, ...settings, proxyTls: { lookup: lookupProxy } as never })
  const check = guard === undefined ? undefined : makeCheck(guard)
  const agent = proxied.compose((dispatch) => (request, handler) => {
    const host = new URL(request.origin!).hostname.replace(/^\[|\]$/g, '')
    if (isDirect(host)) return direct.dispatch(request, handler)
    if (check === undefined) return dispatch(request, handler)
    check(host).then(
      () => dispatch(request, handler),
      (error: Error) => handler.onResponseError?.(undefined as never, error),
    )
    return true
  })
  return {
    agent,
    fetch,
    destroy: async () => void (await Promise.all([direct.destroy(), proxied.destroy()])),
  }
}

const checkedMs = 10_000
const maxChecked = 1000

/**
 * Makes a function that rejects hosts with addresses that are not allowed, or that could not be looked up. That a host is
 * allowed is kept for 10 s.
 */
function makeCheck({ policy, lookup, onOpened }: ProxyGuard): (host: string) => Promise<void> {
  const checked = new Map<string, { readonly until: number; readonly result: Promise<void> }>()
  const judge = (host: string, addresses: readonly string[]) => {
    if (!addresses.every((one) => policy.isAllowed(one))) throw errors.WP_OUTBOUND_ADDRESS({ host })
    if (addresses.some((one) => policy.isOpened(one))) onOpened(host)
  }
  const find = (host: string) =>
    new Promise<readonly string[]>((resolve, reject) => {
      lookup(host, { all: true }, (error, found) => {
        if (error === null) resolve(found.map((one) => one.address))
        else if (isUnknownName(error)) resolve([])
        else reject(error)
      })
    })
  const run = async (host: string) => judge(host, isIP(host) === 0 ? await find(host) : [host])
  return (host) => {
    const now = performance.now()
    const known = checked.get(host)
    if (known !== undefined && known.until > now) return known.result
    if (checked.size >= maxChecked) checked.clear()
    const result = run(host)
    checked.set(host, { until: now + checkedMs, result })
    result.catch(() => checked.delete(host))
    return result
  }
}
