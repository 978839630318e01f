import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeRefusedHost, makeHostCheck } from '../../src/project/allowed-hosts.ts'

interface Case {
  readonly name: string
  readonly listening?: string
  readonly baseUrl?: string
  readonly allowed?: readonly string[]
  readonly answered: readonly (string | undefined)[]
  readonly refused: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'by default this machine',
    answered: [
      'localhost',
      'localhost:3000',
      'LocalHost.',
      '127.0.0.1:3000',
      '127.1.2.3',
      '[::1]:3000',
      'api.localhost',
    ],
    refused: [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.5',
      '0.0.0.0',
      '[::2]',
      'notlocalhost',
    ],
  },
  { name: 'a request without a host, which no browser sends', answered: [undefined], refused: [''] },
  {
    name: 'no host that cannot be read',
    answered: [],
    refused: ['localhost, evil.example', 'evil.example@localhost', 'localhost:x', 'a b', 'localhost/x', '[::1', '%'],
  },
  {
    name: 'the address of --host',
    listening: '10.0.0.5',
    answered: ['10.0.0.5:3000', 'localhost'],
    refused: ['10.0.0.6'],
  },
  { name: 'the name of --host', listening: 'Box.Local', answered: ['box.local:3000'], refused: ['other.local'] },
  {
    name: 'every address, but no name, where it listens on every address',
    listening: '0.0.0.0',
    answered: ['192.168.1.7:3000', '10.0.0.5', '[fe80::1]:3000'],
    refused: ['evil.example', 'box.local'],
  },
  {
    name: 'the same for IPv6',
    listening: '::',
    answered: ['[2001:db8::7]:3000', '10.0.0.5'],
    refused: ['evil.example'],
  },
  {
    name: 'the base URL',
    baseUrl: 'https://Tunnel.example/api',
    answered: ['tunnel.example', 'tunnel.example:443'],
    refused: ['evil.tunnel.example', 'example'],
  },
  {
    name: 'the names of --allow-host',
    allowed: ['Box.local', 'api', '10.0.0.9', 'bücher.example'],
    answered: ['box.local:3000', 'api', '10.0.0.9', 'xn--bcher-kva.example'],
    refused: ['sub.box.local', 'evil.example'],
  },
]

describe('dev responds', () => {
  for (const { name, listening = '127.0.0.1', baseUrl = 'http://localhost:3000', allowed = [], ...hosts } of cases) {
    test(name, () => {
      const check = makeHostCheck({ listening, baseUrl, allowed })
      for (const host of hosts.answered) assert.equal(check(host), undefined, host)
      for (const host of hosts.refused) assert.notEqual(check(host), undefined, host)
    })
  }

  test('no value of --allow-host that is not a name', () => {
    for (const value of ['http://box.local', 'box.local:3000', 'box.local/x', '', '*.local', 'a b']) {
      const check = () => makeHostCheck({ listening: '127.0.0.1', baseUrl: 'http://localhost', allowed: [value] })
      assert.throws(check, { code: 'WP_PROJECT_ALLOW_HOST' }, value)
    }
  })
})

test('the command that allows a host contains no other commands', () => {
  assert.match(describeRefusedHost('evil.example'), /--allow-host evil\.example$/)
  assert.match(describeRefusedHost('[2001:db8::1]'), /--allow-host/)
  for (const host of ['a$(id)', 'a;id', 'a`id`', 'localhost, evil.example', 'evil\u009B2J', '']) {
    assert.equal(describeRefusedHost(host), 'refused a request with an invalid Host header', host)
  }
})
