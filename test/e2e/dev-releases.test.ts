import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDev } from '../support/dev-session.ts'
import { makeProject } from '../support/project.ts'
import { until } from '../support/until.ts'

test('release:list says what serves the folder: dev while it runs, and how to start it otherwise', async () => {
  const project = await makeProject()
  try {
    await using dev = await startDev(project.folder)
    let listed = await project.run('release:list')
    await until('dev has stored a release', async () => {
      listed = await project.run('release:list')
      return !listed.stderr.includes('No releases')
    })
    assert.equal(listed.code, 0, listed.stderr)
    assert.match(listed.stderr, new RegExp(`waypost dev serves this folder at http://\\S+:${dev.port}$`, 'm'))
    assert.doesNotMatch(listed.stderr, /waypost serve|No server/)
    await dev[Symbol.asyncDispose]()
    assert.match((await project.run('release:list')).stderr, /Nothing serves this folder\. Start it: waypost dev/)
  } finally {
    await project.remove()
  }
})
