import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAddressPolicy } from '../../src/outbound/index.ts'

const refused: Readonly<Record<string, readonly string[]>> = {
  'this network': ['0.0.0.0', '0.255.255.255'],
  private: ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  'carrier-grade NAT': ['100.64.0.0', '100.127.255.255'],
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  'link-local and cloud metadata': [
    '169.254.0.0',
    '169.254.169.254',
    'fe80::1',
    'febf::1',
    'fe80::1%eth0',
    'fe80::1%1',
  ],
  "Azure's platform": ['168.63.129.16', '::ffff:168.63.129.16'],
  'protocol assignments': ['192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  'AS112, 6to4 relays': ['192.31.196.1', '192.52.193.1', '192.88.99.1', '192.175.48.1', '2620:4f:8000::1'],
  benchmarking: ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'multicast, reserved, broadcast': ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1'],
  unspecified: ['::', '0:0:0:0:0:0:0:0'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  'IPv4-mapped': [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::FFFF:7F00:0001',
    '0:0:0:0:0:ffff:127.0.0.1',
    '0:0:0:0:0:ffff:7f00:1',
    '0000:0000:0000:0000:0000:ffff:7f00:0001',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8', // public, but IPv4-mapped
    '::ffff:127.0.0.1%lo',
  ],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:7f00:1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1'],
  'Teredo, ORCHID and the rest of 2001::/23': [
    '2001::1',
    '2001:0:53aa:64c::1',
    '2001:10::1',
    '2001:20::1',
    '2001:1ff::1',
  ],
  'unique local, site-local, discard, segment routing': ['fc00::1', 'fd12:3456::1', 'fec0::1', '100::1', '5f00::1'],
  'not handed out': ['4000::1', '1fff::1', '8000::1', 'e000::1'],
  'no address': ['', 'localhost', '127.1', '2130706433', '0x7f000001', '[::1]', '1.2.3', '::g'],
}

const allowed = [
  '1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0',
  '168.63.129.15', '168.63.129.17', '169.253.255.255', '172.15.255.255', '172.32.0.0', '192.0.1.1', '192.167.255.255', '192.169.0.0', '198.17.255.255',
  '198.20.0.0', '223.255.255.255', '2001:200::1', '2001:4860:4860::8888', '2003::1', '2606:4700::1111', '3ffe::1',
] // prettier-ignore

test('rejects addresses outside the public internet', () => {
  const policy = makeAddressPolicy({ allow: [], loopback: false })
  for (const [what, addresses] of Object.entries(refused)) {
    for (const address of addresses) assert.equal(policy.isAllowed(address), false, `${what}: ${address}`)
  }
})

test('allows addresses on the public internet', () => {
  const policy = makeAddressPolicy({ allow: [], loopback: false })
  for (const address of allowed) assert.equal(policy.isAllowed(address), true, address)
})

test('allows loopback on request, and no other range', () => {
  const policy = makeAddressPolicy({ allow: [], loopback: true })
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']) {
    assert.equal(policy.isAllowed(address), true, address)
  }
  const others = Object.entries(refused).filter(([what]) => !/loopback|mapped/i.test(what))
  for (const address of others.flatMap(([, addresses]) => addresses))
    assert.equal(policy.isAllowed(address), false, address)
  for (const address of ['::ffff:10.0.0.1', '::ffff:8.8.8.8']) assert.equal(policy.isAllowed(address), false, address)
})

test('opens the ranges of delivery_allow, of both families, and single addresses', () => {
  const policy = makeAddressPolicy({
    allow: ['10.1.0.0/16', '192.168.7.7', 'fd00:1::/32', 'fd00:2::5'],
    loopback: false,
  })
  const opened = [
    '10.1.0.0',
    '10.1.255.255',
    '192.168.7.7',
    'fd00:1:ffff::1',
    'fd00:2::5',
    '::ffff:10.1.2.3',
    '8.8.8.8',
  ]
  for (const address of opened) assert.equal(policy.isAllowed(address), true, address)
  for (const address of ['10.0.255.255', '10.2.0.0', '192.168.7.8', 'fd00:2::6', '127.0.0.1', '::1']) {
    assert.equal(policy.isAllowed(address), false, address)
  }
})

test('a range that opens everything opens everything', () => {
  const policy = makeAddressPolicy({ allow: ['0.0.0.0/0', '::/0'], loopback: false })
  for (const address of ['127.0.0.1', '10.0.0.1', '::1', 'fd00::1'])
    assert.equal(policy.isAllowed(address), true, address)
})

test('distinguishes addresses that only an opened range allows from public ones and from loopback of a development System', () => {
  const allow = ['10.1.0.0/16', '127.0.0.0/8', '0.0.0.0/0']
  const policy = makeAddressPolicy({ allow, loopback: false })
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '127.0.0.1', '169.254.169.254']) {
    assert.equal(policy.isOpened(address), true, address)
  }
  for (const address of [...allowed, 'fd00::1', 'localhost', '']) assert.equal(policy.isOpened(address), false, address)
  const development = makeAddressPolicy({ allow, loopback: true })
  assert.equal(development.isOpened('127.0.0.1'), false)
  assert.equal(development.isOpened('10.1.2.3'), true)
})
