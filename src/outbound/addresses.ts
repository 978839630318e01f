import { BlockList, isIP } from 'node:net'
import { parseAddress } from '../kit/index.ts'

// IANA's special-purpose registries, and the public address of Azure's platform services. In IPv6, only 2000::/3 is
// allocated; within it, ranges that embed or tunnel IPv4 and documentation ranges are blocked too.
const blockedRanges4 = [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12',
  '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24',
  '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
] // prettier-ignore
const blockedRanges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

/** What `network: private` opens. */
export const privateRanges = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
]

/**
 * The metadata services of cloud platforms, which hand out credentials: link-local addresses, and those of Azure, Alibaba
 * Cloud, Oracle Cloud, AWS and Google Cloud.
 */
export const metadataRanges = [
  '169.254.0.0/16',
  'fe80::/10',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::/32',
  'fd20:ce::/32',
]

/** Decides which addresses may be connected to. */
export interface AddressPolicy {
  isAllowed(address: string): boolean
  /** Whether an address is allowed only because its range was opened. */
  isOpened(address: string): boolean
}

export interface AddressPolicyOptions {
  /** Opened ranges besides public addresses, for example `10.1.0.0/16`, or single addresses. */
  readonly allow: readonly string[]
  /** Allow loopback; for development Systems. */
  readonly loopback: boolean
  /** Ranges that stay blocked even if another range opens them. */
  readonly deny?: readonly string[]
}

/** Makes a policy that allows public addresses and opened ranges. */
export function makeAddressPolicy(options: AddressPolicyOptions): AddressPolicy {
  const blocked = new BlockList()
  for (const range of [...blockedRanges4, ...blockedRanges6]) addRange(blocked, range)
  const global6 = new BlockList()
  addRange(global6, '2000::/3')
  const opened = new BlockList()
  for (const range of options.allow) addRange(opened, range)
  const local = new BlockList()
  const denied = new BlockList()
  for (const range of options.deny ?? []) addRange(denied, range)
  if (options.loopback) for (const range of ['127.0.0.0/8', '::1/128']) addRange(local, range)

  const classify = (text: string): 'public' | 'opened' | 'blocked' => {
    const parsed = parseAddress(text)
    if (parsed === undefined) return 'blocked'
    const [address, family] = [parsed.toString(), parsed.kind()]
    if (denied.check(address, family)) return 'blocked'
    if (local.check(address, family)) return 'public'
    const isPublic = (family === 'ipv4' || global6.check(address, family)) && !blocked.check(address, family)
    const isPlain = (isIP(text) === 4) === (family === 'ipv4') && !text.includes('%')
    if (isPublic && isPlain) return 'public' // IPv4-mapped addresses would bypass the IPv4 rules
    return opened.check(address, family) ? 'opened' : 'blocked'
  }
  return {
    isAllowed: (address) => classify(address) !== 'blocked',
    isOpened: (address) => classify(address) === 'opened',
  }
}

/** Adds a range such as `10.0.0.0/8`; ignores what is none. */
export function addRange(list: BlockList, range: string): void {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(range) ?? []
  const version = isIP(address)
  const maxBits = version === 4 ? 32 : 128
  if (version === 0 || Number(bits ?? maxBits) > maxBits) return
  list.addSubnet(address, Number(bits ?? maxBits), version === 4 ? 'ipv4' : 'ipv6')
}
