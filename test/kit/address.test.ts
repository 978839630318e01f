import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { fc } from '../support/property.ts'
import { isAddressRange, isPrivateAddress, networkOf, parseAddress } from '../../src/kit/index.ts'

test('the network of an address is itself, and for IPv6 its /64', () => {
  const cases: Readonly<Record<string, string>> = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::1': '0:0:0:0',
    '::': '0:0:0:0',
    '2001:db8::1': '2001:db8:0:0',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2',
    '2001:db8:1:2:3:4:5::': '2001:db8:1:2',
    'fe80::1%eth0': 'fe80:0:0:0',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0',
    '2001:DB8:0001::1': '2001:db8:1:0',
    '0:0:0:0:0:ffff:c000:201': '192.0.2.1',
    '::ffff:192.0.2.1%eth0': '192.0.2.1',
    '::192.0.2.1': '0:0:0:0',
    'no address': 'no address',
    '192.0.2.1:8080': '192.0.2.1:8080',
  }
  for (const [address, net] of Object.entries(cases)) assert.equal(networkOf(address), net, address)
})

test('every address that Node connects to can be parsed, and no other text', () => {
  for (const text of ['127.1', '0x7f.0.0.1', '010.0.0.1', '2130706433', '[::1]', '::1 ', '1.2.3.4/8', '']) {
    assert.equal(parseAddress(text), undefined, text)
  }
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      assert.notEqual(isIP(text), 0)
      const address = parseAddress(text)!
      assert.deepEqual(parseAddress(address.toString()), address)
    }),
  )
})

test('private addresses are those of this machine and of private networks, in any notation', () => {
  for (const text of ['127.9.9.9', '10.0.0.1', '172.31.0.1', '192.168.1.1', '::1', 'fd00::1', '::ffff:10.0.0.1']) {
    assert.equal(isPrivateAddress(text), true, text)
  }
  for (const text of ['8.8.8.8', '172.32.0.1', '169.254.0.1', 'fe80::1', '2001:db8::1', 'localhost', '']) {
    assert.equal(isPrivateAddress(text), false, text)
  }
})

test('a range is an address and, if any, the bits of its network', () => {
  for (const text of ['10.0.0.0/8', '10.1.2.3', '::/0', 'fd00::/64', '0.0.0.0/0'])
    assert.equal(isAddressRange(text), true)
  for (const text of ['10.0.0.0/33', 'fd00::/129', '10.0.0.0/', '10.0.0.0/8/8', 'fe80::1%eth0', '10.0.0/8', 'a/8', ''])
    assert.equal(isAddressRange(text), false, text)
})
