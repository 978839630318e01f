import assert from 'node:assert/strict'
import { chooseKinds, longTest } from '../support/forms.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SystemDraft } from '../../src/backend/index.ts'
import { openHost } from '../../src/host/index.ts'
import { copySystem } from '../support/migrated.ts'
import { describeSystems } from '../support/project-server.ts'

describeSystems('the draft of an empty server', chooseKinds('postgresql'), ({ newSystem }) => {
  // In CI, publish.test.ts begins so too.
  longTest('begins without files, and a table becomes the first API', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-empty-'))
    const systemUrl = await newSystem()
    await copySystem(systemUrl, folder)
    const host = await openHost({
      folder,
      variables: { WAYPOST_SYSTEM_URL: systemUrl },
      create: true,
      disposable: true,
    })
    const draft = new SystemDraft(host, () => 'Empty')
    try {
      assert.deepEqual([(await draft.read()).texts.size, (await draft.status()).diagnostics], [0, []])
      const by = { id: 'a', name: 'ann' }
      const columns = [
        { name: 'id', type: 'id' as const },
        { name: 'title', type: 'text' as const },
      ]
      const design = { name: 'app_todo', columns, key: [], unique: [], index: [] }
      const { change } = await draft.tables.plan({ connection: 'System', table: undefined, design })
      await draft.write([change!], { by })
      const { changes } = await draft.tables.planApi({
        connection: 'System',
        table: 'app_todo',
        newScopes: { todo: '' },
      })
      await draft.write(changes, { by })
      const { changes: all, texts } = await draft.readState()
      assert.deepEqual(
        all.map(({ name }) => name),
        ['/scope/todo', '/action/Todo', '/routes/~1todo', '/routes/~1todo~1:id', change!.file],
      )
      const loaded = await draft.load(texts)
      assert.deepEqual(
        loaded.diagnostics.filter(({ severity }) => severity === 'error'),
        [],
      )
      assert.equal((await draft.link(loaded)).manifest.routes.length, 2)
      assert.deepEqual(await draft.discard(undefined, by), [])
      assert.equal((await draft.read()).texts.size, 0)
    } finally {
      draft.close()
      await host.close()
      await rm(folder, { recursive: true })
    }
  })
})
