// A new signing key, as an operator makes it beside a server that runs.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { decodeProtectedHeader } from 'jose'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { send } from '../support/send.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'
import { until } from '../support/until.ts'
import { chooseKinds, isLong } from '../support/forms.ts'

const password = 'quiet-otter-4417'
const noTerminal = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'

for (const kind of chooseKinds('sqlite')) {
  describe(`key:rotate on ${kind}`, () => {
    let made: NewSystem
    let serving: Serving
    before(async () => {
      made = await makeSystem(kind)
      await made.folder.ok('user:add ann --password-stdin', { input: `${password}\n` })
      serving = await startServe(made.folder)
    })
    after(async () => {
      await serving.stop()
      await made.close()
    })

    async function logIn(): Promise<string> {
      return (await send(serving.port, { path: '/consumer/login', body: { username: 'ann', password } })).body.token
    }
    const kidOf = (token: string) => decodeProtectedHeader(token).kid
    const whoami = async (token: string) =>
      (await send(serving.port, { path: '/authorization/whoami', headers: { authorization: `Bearer ${token}` } }))
        .status
    const published = async (): Promise<string[]> =>
      (await send(serving.port, { path: '/.well-known/jwks.json' })).body.keys.map(({ kid }: { kid: string }) => kid)

    it('makes a server sign with the new key, and older tokens stay valid', async () => {
      const old = await logIn()
      const { code, stdout, stderr } = await made.folder.run('key:rotate --yes --json')
      assert.equal(code, 0, stderr)
      assert.match(stderr, /^ {2}Target {5}\S+/)
      const { key, algorithm, retired, removed } = JSON.parse(stdout)
      assert.deepEqual([algorithm, retired, removed], ['ES256', [kidOf(old)], []])
      await until('the new key signs', async () => kidOf(await logIn()) === key)
      assert.deepEqual(await published(), [key, kidOf(old)])
      assert.deepEqual([await whoami(old), await whoami(await logIn())], [200, 200])
    })

    it('describes its effect, and does not prompt without a terminal', async () => {
      const [before] = await published()
      const { code, stdout, stderr } = await made.folder.run('key:rotate')
      assert.equal(code, 0, stderr)
      assertCalm(stdout + stderr)
      assert.match(
        stdout,
        new RegExp(`^ {2}Signs {6}key_[0-9A-Z]+ {3}ES256\\n {2}Retired {4}${before} {3}still verifies until`),
      )
      assert.doesNotMatch(stdout + stderr, /"d"|PRIVATE/)
    })

    it('--withdraw invalidates older tokens, and says so', async () => {
      const old = await logIn()
      const { code, stdout, stderr } = await made.folder.run('key:rotate --withdraw')
      assert.equal(code, 0, stderr)
      assertCalm(stdout + stderr)
      assert.match(stdout, new RegExp(`^ {2}Withdrawn {2}${kidOf(old)} {3}no longer verifies tokens$`, 'm'))
      assert.match(stdout, /^ {2}Revoked {4}\d+ access tokens?; refresh tokens stay valid$/m)
      await until('the old token is refused', async () => (await whoami(old)) === 401)
      const listed = JSON.parse(await made.folder.ok('token:list --json'))
      assert.deepEqual(listed, { tokens: [] })
      const { key } = JSON.parse(await made.folder.ok('key:rotate --json'))
      await until('a new login is let in', async () => {
        const token = await logIn()
        return kidOf(token) === key && (await whoami(token)) === 200
      })
    })

    // In CI, administration.test.ts asks in a terminal.
    const skip = noTerminal || (!isLong && 'long form')
    it('prompts in a terminal first, and does nothing if declined', { skip }, async () => {
      const before = await published()
      const command = `${process.execPath} ${path.join(checkout, 'bin/run.js')} key:rotate`
      const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
        cwd: made.folder.folder,
        encoding: 'utf8',
        input: 'n\n',
        env: cleanEnvironment(made.variables),
      })
      assert.match(stdout, /Target[^]*Sign with a new key from now on\? \(y\/N\)[^]*Nothing was changed\./)
      assert.equal(status, 1)
      assert.deepEqual(await published(), before)
    })

    it('rejects another secret, and another base URL', async () => {
      const before = await published()
      for (const env of [
        { WAYPOST_SECRET: 'another secret that is long enough to be one' },
        { WAYPOST_BASE_URL: 'https://elsewhere.example.com' },
      ]) {
        const { code, stderr } = await made.folder.run('key:rotate --yes', { env })
        assert.equal(code, 1)
        assert.match(stderr, /WAYPOST_(SECRET|BASE_URL)/)
        assertCalm(stderr)
      }
      assert.deepEqual(await published(), before)
    })

    it('--help leads with examples', async () => {
      const help = await made.folder.ok('key:rotate --help')
      assert.ok(help.indexOf('EXAMPLES') >= 0 && help.indexOf('EXAMPLES') < help.indexOf('FLAGS'), help)
      assert.ok(help.split('\n').every((line) => line.length <= 80))
    })
  })
}
