import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { defaultSettings, parseSettings, settingsTable } from '../../src/kit/index.ts'

suite('settings', () => {
  test('the defaults are in milliseconds and bytes', () => {
    const { token_lifetime, delivery_delays, keep, body_limit, scopes_default, docs, registration } = defaultSettings
    assert.equal(token_lifetime, 3_600_000)
    assert.deepEqual(delivery_delays, [60_000, 600_000, 3_600_000])
    assert.equal(keep.deliveries, 30 * 86_400_000)
    assert.equal(body_limit, 1_048_576)
    assert.deepEqual([scopes_default, docs, registration], [['consumer'], 'public', false])
    assert.deepEqual(Object.keys(defaultSettings), Object.keys(settingsTable))
  })

  test('given values override the defaults, in "keep" separately for each name', () => {
    const { settings, problems } = parseSettings({
      token_lifetime: '1h30m',
      keep: { tokens: '2d' },
      cors: ['https://a.example', 'http://localhost:3000'],
      delivery_allow: ['10.0.0.0/8', '::1', 'fd00::/8'],
      subscription_limit: 5,
      breaking_changes: 'forbid',
      registration: true,
      title: ' Corner Shop ',
    })
    assert.deepEqual(problems, [])
    assert.equal(settings.title, 'Corner Shop')
    const { token_lifetime, keep, subscription_limit, breaking_changes, registration } = settings
    assert.deepEqual([token_lifetime, keep.tokens, keep.deliveries], [5_400_000, 172_800_000, 2_592_000_000])
    assert.deepEqual([subscription_limit, breaking_changes, registration], [5, 'forbid', true])
  })

  test('a variable is text: numbers, flags and lists are read from it', () => {
    const { settings, problems } = parseSettings({
      subscription_limit: '7',
      registration: 'true',
      cors: 'https://a.example, https://b.example',
      delivery_delays: '1s,2s,3s',
      scopes_default: '',
    })
    assert.deepEqual(problems, [])
    assert.deepEqual(settings.cors, ['https://a.example', 'https://b.example'])
    assert.deepEqual(settings.delivery_delays, [1000, 2000, 3000])
    assert.deepEqual([settings.subscription_limit, settings.registration, settings.scopes_default], [7, true, []])
  })

  const wrong: readonly (readonly [string, unknown, (string | number)[]])[] = [
    ['token_lifetime', '0s', []],
    ['token_lifetime', '1y', []],
    ['token_lifetime', '366d', []],
    ['token_lifetime', null, []],
    ['body_limit', '2tb', []],
    ['registration', 'maybe', []],
    ['subscription_limit', 0, []],
    ['subscription_limit', 1.5, []],
    ['delivery_delays', ['1m'], []],
    ['delivery_delays', ['1m', 2, '3m'], [1]],
    ['delivery_allow', ['10.0.0.0/33'], [0]],
    ['delivery_allow', ['example.com'], [0]],
    ['delivery_allow', ['fe80::1%eth0'], [0]],
    ['cors', ['https://a.example/'], [0]],
    ['cors', ['ftp://a.example'], [0]],
    ['scopes_default', ['a b'], [0]],
    ['scopes_default', ['todo', 'backend.read'], [1]],
    ['scopes_default', ['backend.of-a-later-version'], [0]],
    ['scopes_default', 'todo, backend.admin', [1]],
    ['keep', { deliveries: 'long' }, ['deliveries']],
    ['keep', { nothing: '1d' }, ['nothing']],
    ['keep', '1d', []],
    ['docs', 'everybody', []],
    ['title', 'x'.repeat(61), []],
    ['title', 'two\nlines', []],
    ['title', 5, []],
    ['description', 'x'.repeat(501), []],
    ['accent', 'blue', []],
    ['accent', '#abc', []],
    ['accent', '#1f6feb;}', []],
    ['accent', '#1f6feb\n', []],
    ['accent', null, []],
    ['portal', 'maybe', []],
  ]
  for (const [name, value, path] of wrong) {
    test(`reports the error of ${name}: ${JSON.stringify(value)}, and keeps the default`, () => {
      const { settings, problems } = parseSettings({ [name]: value })
      assert.deepEqual(
        problems.map((problem) => [problem.name, problem.path]),
        [[name, path]],
      )
      assert.deepEqual(settings, defaultSettings)
    })
  }

  test('an administration scope cannot be a default, and the error explains how to grant it', () => {
    const { problems } = parseSettings({ scopes_default: ['consumer', 'backend.deploy'] })
    assert.deepEqual(problems, [
      {
        name: 'scopes_default',
        path: [1],
        message: '"scopes_default/1" must be a scope that is safe for every user, not "backend.deploy"',
        hint: 'Grant it to individual users: waypost user:scopes NAME --add backend.deploy',
      },
    ])
  })

  test('an unknown setting names the nearest', () => {
    const [problem] = parseSettings({ token_lifetme: '1h' }).problems
    assert.deepEqual(
      [problem?.message, problem?.hint],
      ['Unknown setting "token_lifetme"', 'Did you mean "token_lifetime"?'],
    )
  })

  test('a setting of an earlier version is ignored, so that stored releases can still be served', () => {
    const { settings, problems } = parseSettings({ delivery_lease: '20s', delivery_timeout: '5m' })
    assert.deepEqual([problems, settings.delivery_timeout, 'delivery_lease' in settings], [[], 300_000, false])
  })
})
