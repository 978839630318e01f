// outbound: outgoing HTTP through a guarded agent: only public addresses, checked again when connecting. May import
// kit.
export { makeAddressPolicy, type AddressPolicy } from './addresses.ts'
export { loadFetch, openOutbound, type Outbound, type TracePost, type OutboundOptions } from './client.ts'
export type { Post, PostResult } from './post-once.ts'
export { readProxies } from './read-proxies.ts'
