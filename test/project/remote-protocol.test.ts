import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { openRemoteTarget } from '../../src/project/deploy/remote/open-remote-target.ts'
import type { DeployTarget } from '../../src/project/deploy/target.ts'
import { listActivations, loadActiveRelease, loadFiles, type BuiltRelease } from '../../src/release/index.ts'
import { makeGreeting, openDeployers, type Deployers } from '../backend/deployers.ts'
import { chooseKinds } from '../support/forms.ts'

interface Line extends AsyncDisposable {
  readonly url: string
  /** The number of body bytes sent to the server, by path. */
  readonly sent: Map<string, number>
  /** Breaks the connection in the middle of the next body for a path. */
  breakAt(path: string): void
}

/** A proxy between a pipeline and a server. */
async function openLine(to: string): Promise<Line> {
  const sent = new Map<string, number>()
  let broken: string | undefined
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url!
    const isBroken = path === broken
    const { method, headers } = incoming
    const onward = request(new URL(path, to), { method: method!, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => incoming.socket.destroy())
    incoming.on('data', (part: Buffer) => {
      sent.set(path, (sent.get(path) ?? 0) + part.length)
      onward.write(isBroken ? part.subarray(0, part.length / 2) : part)
      if (!isBroken) return
      broken = undefined
      setImmediate(() => onward.destroy())
    })
    incoming.on('end', () => isBroken || onward.end())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    sent,
    breakAt: (path) => (broken = path),
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

/** A release with a greeting, and with artifacts that make it large and cannot be compressed. */
function makeLarge(greeting: string, names: readonly string[]): BuiltRelease {
  const { manifest, artifacts } = makeGreeting(greeting)
  const ballast = names.map((name) => {
    const content = `// ${Array.from({ length: 3000 }, (_, index) => sha256(`${name} ${index}`)).join('')}\n`
    return { hash: sha256(content), content }
  })
  const all = [...artifacts, ...ballast]
  const sizes = Object.fromEntries(all.map(({ hash, content }) => [hash, Buffer.byteLength(content)]))
  return { manifest: { ...manifest, artifacts: sizes }, artifacts: all }
}

for (const kind of chooseKinds('sqlite')) {
  describe(`a deployment over HTTP, on ${kind}`, () => {
    let world: Deployers
    let line: Line
    let target: DeployTarget
    before(async () => {
      world = await openDeployers(kind)
      line = await openLine(world.url)
      const { id, secret } = world.deployClient
      const variables = { WAYPOST_CLIENT_ID: id, WAYPOST_CLIENT_SECRET: secret }
      target = await openRemoteTarget({ url: line.url, variables })
    })
    after(async () => {
      await target.close()
      await line[Symbol.asyncDispose]()
      await world.close()
    })

    const files = [{ path: 'waypost.yml', content: 'routes: {}\n' }]
    const survey = (release: BuiltRelease) => target.survey({ release, files })
    const artifactPath = '/backend/deploy/artifact'
    const uploads = async () =>
      (await world.system.db.selectFrom('waypost_upload').select('hash').execute()).map(({ hash }) => hash)

    test('runs step by step, with the knowledge of the server', async () => {
      await target.assertDeployable()
      assert.deepEqual(await target.listServers(), [])
      const release = makeLarge('one', ['a', 'b', 'c'])
      const { id, active, missingArtifacts } = await survey(release)
      assert.deepEqual([active, missingArtifacts.length], [undefined, 5])
      const upload = await target.upload({ release, files }, missingArtifacts)
      assert.equal(upload?.artifacts, 5)
      assert.ok(line.sent.get(artifactPath)! > 3 * 90_000)
      const activation = await target.activate(release, { files, by: 'ignored', message: 'One', against: 'none' })
      assert.deepEqual(activation, { id, activated: true, recorded: true })
      const again = await survey(release)
      assert.deepEqual([again.active?.id, again.active?.activatedBy, again.changes], [id, 'bo (pipeline)', []])
    })

    test('of other comments is recorded with its files and commit, and swaps nothing', async () => {
      const release = makeLarge('one', ['a', 'b', 'c'])
      assert.equal((await survey(release)).filesChanged, false)
      const changed = [{ path: 'waypost.yml', content: '# A comment\nroutes: {}\n' }]
      const found = await target.survey({ release, files: changed })
      assert.deepEqual([found.filesChanged, found.missingArtifacts.length], [true, 1])
      await target.upload({ release, files: changed }, found.missingArtifacts)
      const commit = `${'a'.repeat(40)}-dirty`
      const activation = await target.activate(release, { by: 'me', files: changed, commit })
      assert.deepEqual(activation, { id: found.id, activated: false, recorded: true })
      const [last] = await listActivations(world.system, found.id, 1)
      assert.equal(last?.commit, commit)
      assert.deepEqual(await loadFiles(world.system, last.files!), changed)
      assert.deepEqual(await uploads(), [])
    })

    test('sends only missing artifacts, and none if the server has all', async () => {
      line.sent.clear()
      const release = makeLarge('two', ['a', 'b', 'c'])
      const { missingArtifacts } = await survey(release)
      assert.deepEqual(missingArtifacts, [release.artifacts[0]!.hash])
      assert.deepEqual((await target.upload({ release, files }, missingArtifacts))?.artifacts, 1)
      assert.ok(line.sent.get(artifactPath)! < 1000, 'the large ones are there already')
      line.sent.delete(artifactPath)
      assert.equal(await target.upload({ release, files }, (await survey(release)).missingArtifacts), undefined)
      assert.equal((await target.activate(release, { files, by: 'me' })).activated, true)
      assert.equal(line.sent.has(artifactPath), false)
    })

    test('an interrupted one leaves the active release unchanged and continues later', async () => {
      const { id } = (await loadActiveRelease(world.system))!
      const release = makeLarge('three', ['d', 'e', 'f', 'g', 'h', 'i', 'j', 'k'])
      const { missingArtifacts } = await survey(release)
      line.breakAt(artifactPath)
      await assert.rejects(target.upload({ release, files }, missingArtifacts), {
        code: 'WP_PROJECT_REMOTE_UNREACHABLE',
      })
      assert.equal((await loadActiveRelease(world.system))?.id, id)
      const left = (await survey(release)).missingArtifacts
      assert.ok(left.length > 0)
      await target.upload({ release, files }, left)
      assert.deepEqual((await survey(release)).missingArtifacts, [])

      line.breakAt('/backend/deploy')
      await assert.rejects(target.activate(release, { files, by: 'me', against: id }), {
        code: 'WP_PROJECT_REMOTE_UNREACHABLE',
      })
      assert.equal((await loadActiveRelease(world.system))?.id, id)
      assert.equal((await uploads()).length, 9)
      assert.equal((await target.activate(release, { files, by: 'me', against: id })).activated, true)
      assert.deepEqual(await uploads(), [])
    })

    test('sends artifacts again that were pruned between survey and activation', async () => {
      const release = makeLarge('four', ['l'])
      await target.upload({ release, files }, (await survey(release)).missingArtifacts)
      await world.system.db.deleteFrom('waypost_upload').execute()
      assert.equal((await target.activate(release, { files, by: 'me' })).activated, true)
    })

    test('is rejected with the message of the server if another release was activated in between', async () => {
      const release = makeGreeting('five')
      await target.upload({ release, files }, (await survey(release)).missingArtifacts)
      await assert.rejects(target.activate(release, { files, by: 'me', against: 'ffff' }), {
        code: 'WP_RELEASE_SUPERSEDED',
        hint: /deploy again/,
      })
    })
  })
}
