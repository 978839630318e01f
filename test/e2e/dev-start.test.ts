import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFreePort } from '../../bin/demo/waypost.ts'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

test('requests wait while dev builds the project for the first time', async () => {
  const project = await makeProject()
  const port = await findFreePort()
  // The build has to wait for the plugin, so that requests come before its end.
  await project.write(
    'plugins/slow.ts',
    `await new Promise((resolve) => setTimeout(resolve, 1500))\nexport default { name: 'slow' }\n`,
  )
  await project.write('waypost.yml', `${await project.read('waypost.yml')}\nplugins: [./plugins/slow.ts]\n`)
  const dev = project.start(`dev --port ${port}`)
  try {
    let status: number | undefined
    await until('dev answers', async () => {
      status = await send(port, { path: '/todo' }).then(
        (answer) => answer.status,
        () => undefined,
      )
      // 503 asks to try again: on a slow machine the build takes longer than requests wait.
      return status !== undefined && status !== 503
    })
    assert.equal(status, 200)
  } finally {
    await dev.stop()
    await project.remove()
  }
})
