import assert from 'node:assert/strict'
import { test } from 'node:test'
import { browserCommand, openInspector } from '../../bin/cli/open-browser.ts'
import { withDefault } from '../../bin/cli/flags.ts'

test('the value of a flag may be optional', () => {
  assert.deepEqual(withDefault(['--inspect', '--port', '0'], '--inspect', 9229), ['--inspect=9229', '--port', '0'])
  assert.deepEqual(withDefault(['--inspect=1'], '--inspect', 9229), ['--inspect=1'])
  assert.deepEqual(withDefault(['--', '--inspect'], '--inspect', 9229), ['--', '--inspect'])
})

test('a browser is started without a shell, by the program of each operating system', () => {
  const url = 'http://localhost:3000/docs?a=1&b=$(c)'
  for (const platform of ['linux', 'darwin', 'win32', 'freebsd'] as const) {
    const words = browserCommand(url, platform)
    assert.equal(words.at(-1), url)
    assert.ok(!words.some((word) => /^(sh|bash|cmd|powershell)/.test(word)))
  }
})

test('a debugger can attach from this machine, and a port that is taken is an error', async () => {
  const { url, close } = await openInspector(0)
  try {
    const { host } = new URL(url)
    assert.match(host, /^127\.0\.0\.1:\d+$/)
    const [about] = (await (await fetch(`http://${host}/json/list`)).json()) as { webSocketDebuggerUrl: string }[]
    assert.equal(about?.webSocketDebuggerUrl, url)
  } finally {
    close()
  }
})
