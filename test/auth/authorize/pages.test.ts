import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { fc } from '../../support/property.ts'
import { renderConsent, type ConsentPage } from '../../../src/auth/authorize/pages/consent-page.ts'
import { renderError } from '../../../src/auth/authorize/pages/error-page.ts'
import { renderLogin, renderRegister, type LoginPage } from '../../../src/auth/authorize/pages/login-page.ts'
import { styleSourceOf } from '../../../src/auth/authorize/pages/page.ts'

const register = {
  base: '',
  service: 'Shop',
  description: '',
  accent: '',
  clientName: 'App',
  csrf: 'token',
  request: 'client_id=1&state=a%22b',
}
const login: LoginPage = { ...register, canRegister: true }
const consent: ConsentPage = {
  ...register,
  userName: 'ann',
  scopes: [{ name: 'todo', description: 'To change to-dos' }, { name: 'note' }],
  redirectHost: 'app.example',
  isPublic: false,
  isReference: false,
  registered: { by: 'bob', at: Date.UTC(2026, 10, 21) },
}
const pages = {
  login: renderLogin(login),
  'login, once more': renderLogin({ ...login, user: 'ann', problem: 'Wrong.', reason: 'It has been a while.' }),
  register: renderRegister(register),
  'login, described': renderLogin({ ...login, description: 'Orders and stock' }),
  'register, again': renderRegister({ ...register, user: 'ann', problem: 'Taken.' }),
  consent: renderConsent(consent),
  'consent to the reference': renderConsent({ ...consent, isReference: true }),
  'consent on the device': renderConsent({ ...consent, isPublic: true, redirectHost: 'localhost:4711' }),
  error: renderError({ title: 'No such client', detail: 'Unknown client "x".', hint: 'Go back.' }),
}

describe('pages of the authorization code flow', () => {
  for (const [name, page] of Object.entries(pages)) {
    test(`${name}: has no script, loads no resources, and has only the style that the policy names`, () => {
      assert.doesNotMatch(page, /<script|\son\w+=|\sstyle=|\ssrc=|<link|https?:|url\(|@import/i)
      const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)]
      assert.equal(styles.length, 1)
      const hash = createHash('sha256').update(styles[0]![1]!).digest('base64')
      assert.equal(styleSourceOf(''), `'sha256-${hash}'`)
    })

    test(`${name}: declares its language and title, has one heading and can be zoomed`, () => {
      assert.match(page, /^<!doctype html>\s*<html lang="en">/)
      assert.match(page, /<title>[^<]+<\/title>/)
      assert.equal(page.match(/<h1>/g)?.length, 1)
      assert.match(page, /<meta name="viewport" content="width=device-width, initial-scale=1" \/>/)
    })
  }

  for (const accent of ['#ffcc00', '#000000']) {
    test(`with the accent ${accent}: have only the style that the policy names`, () => {
      for (const page of [renderLogin({ ...login, accent }), renderRegister({ ...register, accent })].concat(
        renderConsent({ ...consent, accent }),
      )) {
        const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)]
        assert.equal(styles.length, 1)
        assert.match(styles[0]![1]!, new RegExp(`--strong: ${accent};`))
        const hash = createHash('sha256').update(styles[0]![1]!).digest('base64')
        assert.equal(styleSourceOf(accent), `'sha256-${hash}'`)
      }
      assert.notEqual(styleSourceOf(accent), styleSourceOf(''))
    })
  }

  test('login and registration show the description of the service, the others do not', () => {
    const description = 'Orders & stock'
    const shown = [renderLogin({ ...login, description }), renderRegister({ ...register, description })]
    for (const page of shown) assert.match(page, /<p class="about[^"]*" dir="auto">Orders &amp; stock<\/p>/)
    assert.doesNotMatch(renderLogin(login), /class="about/)
  })

  test('forms post below the path of the issuer, and carry the token and the whole request', () => {
    const base = '/base'
    const text = renderLogin({ ...login, base }) + renderConsent({ ...consent, base })
    const forms = [...text.matchAll(/<form[^>]*method="post" action="([^"]*)">(.*?)<\/form>/gs)]
    assert.deepEqual(
      forms.map(([, action]) => action),
      ['/base/authorization/login', '/base/authorization/logout', '/base/authorization/consent'],
    )
    for (const [, action, fields = ''] of forms) {
      assert.ok(fields.includes('<input type="hidden" name="csrf" value="token" />'), action)
      assert.ok(fields.includes('<input type="hidden" name="request" value="client_id=1&amp;state=a%22b" />'), action)
    }
  })

  test('a field is described by its error, and the next field to fill in has the focus', () => {
    assert.doesNotMatch(pages.login, /aria-describedby|role="alert"/)
    assert.deepEqual(focused(pages.login), ['username'])
    const again = pages['login, once more']
    assert.match(again, /<p class="box bad" role="alert" id="problem">Wrong\.<\/p>/)
    assert.equal(again.match(/aria-invalid="true" aria-describedby="problem"/g)?.length, 2)
    assert.match(again, /name="username"[^>]* value="ann"/)
    assert.deepEqual(focused(again), ['password'])
  })

  for (const [redirectHost, isPublic, isHinted] of [
    ['localhost:4711', true, true],
    ['127.0.0.1', true, true],
    ['[::1]:80', true, true],
    ['com.example.app:', true, true],
    ['localhost:4711', false, false],
    ['localhost.evil.example', true, false],
    ['app.example', true, false],
  ] as const) {
    const client = `a ${isPublic ? 'public' : 'confidential'} client at ${redirectHost}`
    test(`consent ${isHinted ? 'warns' : 'does not warn'} that ${client} may be any program`, () => {
      const page = renderConsent({ ...consent, redirectHost, isPublic })
      assert.equal(page.includes('Any program on this device'), isHinted)
      assert.ok(page.includes(`<bdi translate="no">${redirectHost.replace(/:$/, '')}</bdi>`))
    })
  }

  test('names of clients, users and scopes are never interpreted as markup', () => {
    const nasty = fc.string({
      unit: fc.oneof(
        fc.constantFrom('<', '>', '"', "'", '`', '&', '/', '=', '!--', 'script', '\0', '\n', '\u202e', '\ud800'),
        fc.string(),
      ),
      maxLength: 20,
    })
    fc.assert(
      fc.property(nasty, nasty, nasty, (one, two, three) => {
        const text = { base: '', service: two, accent: '', clientName: one, csrf: two, request: three }
        const described = { description: `${three}!` }
        const loginText = { user: two, problem: three, reason: one }
        const consentText = {
          userName: two,
          isPublic: false,
          isReference: false,
          registered: { by: `${three}!`, at: 0 },
          scopes: [{ name: three, description: one }, { name: two }],
        }
        assert.deepEqual(
          [
            skeleton(renderLogin({ ...text, ...described, ...loginText, canRegister: true })),
            skeleton(renderRegister({ ...text, ...described, user: two, problem: three })),
            skeleton(renderConsent({ ...text, ...consentText, redirectHost: three })),
            skeleton(renderError({ title: one, detail: two, hint: three })),
          ],
          plainSkeletons,
        )
      }),
    )
  })
})

const again = { ...register, description: 'Orders', user: 'ann', problem: 'Wrong.' }
const plainSkeletons = [
  skeleton(renderLogin({ ...again, reason: 'It has been a while.', canRegister: true })),
  skeleton(renderRegister(again)),
  skeleton(renderConsent(consent)),
  skeleton(pages.error),
]

function focused(page: string): string[] {
  return [...page.matchAll(/name="(\w+)"[^>]* autofocus\s/g)].map(([, name]) => name!)
}

/** The tags of a page, without attribute values. */
function skeleton(page: string): string[] {
  return (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/"[^"]*"/g, '""'))
}
