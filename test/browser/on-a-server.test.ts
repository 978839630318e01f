// Someone who has only a server and a browser builds and publishes an API. server-releases.test.ts changes it and rolls it
// back, server-tables.test.ts changes its tables.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findFlaws } from '../support/browser.ts'
import { chooseKinds, isLong } from '../support/forms.ts'
import { firstSteps } from './server-steps.ts'
import { withServer } from './server-world.ts'

/** Its System is the one that `init --template host` sets up; in the long form also on PostgreSQL. */
for (const kind of chooseKinds('sqlite'))
  describe(`an API on a server by clicking, ${kind}`, { timeout: 600_000 }, () => {
    const server = withServer(kind)
    const { heading, button, go } = server

    for (const [name, step] of Object.entries(firstSteps)) test(name, () => step(server))

    test('an error in the draft is marked on every page, with a link to it', async () => {
      const { page } = server
      await go('Settings')
      const lifetime = () => page.getByRole('textbox', { name: 'Access token lifetime' })
      const mark = page
        .getByRole('banner')
        .getByRole('link', { name: /^1 error in the definition\. Show waypost\.yml:\d+$/ })
      assert.equal(await mark.count(), 0)
      await lifetime().fill('soon')
      await page.keyboard.press('Control+S')
      await button('Save anyway').click()
      await mark.waitFor()
      await page.setViewportSize({ width: 1440, height: 1600 }) // axe cannot decide about what is scrolled out
      for (const name of isLong ? ['Overview', 'Tables', 'Users', 'Publish'] : ['Overview']) {
        await go(name)
        await mark.waitFor()
        assert.deepEqual(await findFlaws(page), [], name)
      }
      await mark.click()
      await heading('Settings').waitFor()
      assert.equal(await lifetime().inputValue(), 'soon')
      await page.getByRole('region', { name: '1 error' }).getByText('"token_lifetime" must be a duration').waitFor()
      await lifetime().fill('')
      await page.keyboard.press('Control+S')
      await mark.waitFor({ state: 'detached' })
    })

    test('the browser complained about nothing but the save that was refused', () =>
      assert.deepEqual(
        server.opened.complaints.filter((one) => !one.includes('status of 422')),
        [],
      ))
  })
