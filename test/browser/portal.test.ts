import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { installation } from '../../src/kit/index.ts'
import { checkLooks, checkPage } from './backend-world.ts'
import { logIn, openPortal, openPortalWorld, origin, root, type PortalWorld } from './portal-world.ts'

describe('the portal', { timeout: 600_000 }, () => {
  let world: PortalWorld
  before(async () => {
    world = await openPortalWorld()
  })
  after(() => world[Symbol.asyncDispose]())

  test('shows visitors what the API is, and asks them to sign in where it is about their account', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    const scripts = new Set<string>()
    page.on('request', (request) => {
      if (/\/assets\/.*\.js$/.test(request.url())) scripts.add(path.basename(new URL(request.url()).pathname))
    })
    await page.goto(`${origin}${root}`)
    await page.getByRole('heading', { name: 'Corner Shop', level: 1 }).waitFor()
    await page.getByText('Orders and stock of the corner shop, for partners.').waitFor()
    const sizes = [...scripts].map((name) => statSync(path.join(installation, 'dist/ui/assets', `${name}.gz`)).size)
    const bytes = sizes.reduce((sum, one) => sum + one, 0)
    assert.ok(bytes > 50_000 && bytes <= 200 * 1024, `${bytes} bytes: ${[...scripts].join(', ')}`)
    await checkPage(page, 'portal of a visitor')

    await page.goto(`${origin}${root}/clients`)
    await page.locator('#content').getByText('Sign in to see this page.').waitFor()
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await logIn(page, 'bea')
    await page.locator('#content').getByRole('heading', { name: 'Clients', level: 1 }).waitFor()
    assert.equal(page.url(), `${origin}${root}/clients`)
    assert.deepEqual(complaints, [])
  })

  test('is where the address of the API leads', async () => {
    const { status, headers } = await world.call('/', { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')], [302, '/portal/'])
  })

  test('signs in silently after a reload, and out', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await page.reload()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('bea', { exact: true }).waitFor()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('Username').waitFor()
    await page.goto(`${origin}${root}/`)
    await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('shows a visitor whose session has ended, without a login page', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await page.context().clearCookies()
    await page.goto(`${origin}${root}/`)
    await page.getByRole('banner').getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(page.url(), `${origin}${root}/`)
    assert.deepEqual(complaints, [])
  })

  test('creates an account from its first page', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/`)
    await page.locator('#content').getByRole('button', { name: 'Create account' }).click()
    await page.getByLabel('Username').fill('dora')
    await page.getByLabel('Password').fill('a quiet otter by the river')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('dora', { exact: true }).waitFor()
    assert.equal(page.url(), `${origin}${root}/`)
    assert.deepEqual(complaints, [])
  })

  test('is accessible in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page)
    await checkLooks(page, { '/': 'Corner Shop' }, root)
    assert.deepEqual(complaints, [])
  })
})
