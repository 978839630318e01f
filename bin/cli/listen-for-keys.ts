import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A terminal as far as keys come from it. */
export interface KeyStream {
  readonly isTTY: boolean
  setRawMode(isRaw: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  resume(): unknown
  pause(): unknown
  on(event: 'data', listener: (text: string) => void): unknown
  off(event: 'data', listener: (text: string) => void): unknown
}

export interface Keys {
  /** What each key does, by the character that it types; `\r` is the enter key. */
  readonly actions: Readonly<Record<string, () => void>>
  /** Sends a signal as the terminal does when nobody listens to its keys: to everything that runs in front. */
  send?(signal: NodeJS.Signals): void
}

/** What a terminal makes of these itself while it is not in raw mode. */
const signals: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001C': 'SIGQUIT',
  '\u001A': 'SIGTSTP',
}

/** Calls an action at each key, until it is stopped; the terminal is given back as it was, however the process ends. */
export function listenForKeys(input: KeyStream, { actions, send = sendToAll }: Keys): () => void {
  const onData = (text: string) => {
    const signal = signals[text.at(-1) ?? '']
    if (signal === 'SIGTSTP') return suspend()
    if (signal !== undefined) return send(signal)
    actions[text.toLowerCase()]?.() // a text that was pasted is no key
  }
  let isListening = false
  const begin = () => {
    if (isListening) return
    isListening = true
    input.setRawMode(true)
    input.on('data', onData)
    input.resume()
  }
  const end = () => {
    if (!isListening) return
    isListening = false
    input.off('data', onData)
    input.pause()
    try {
      input.setRawMode(false)
    } catch {
      // The terminal was closed.
    }
  }
  /** Who was sent to the background must not touch the terminal: that would stop it again. */
  const continued = () => {
    if (isInFront()) begin()
  }
  const suspend = () => {
    end()
    send('SIGTSTP')
  }
  input.setEncoding('utf8')
  begin()
  process.on('SIGCONT', continued)
  process.on('exit', end)
  return () => {
    process.off('SIGCONT', continued)
    process.off('exit', end)
    end()
  }
}

function sendToAll(signal: NodeJS.Signals): void {
  process.kill(process.platform === 'win32' ? process.pid : 0, signal)
}

/** Whether the shell runs this process in front, so that what is typed is meant for it. */
export function isInFront(): boolean {
  if (process.platform === 'win32') return true
  try {
    if (process.platform === 'linux') return readsTerminal(readFileSync('/proc/self/stat', 'utf8'))
    return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+')
  } catch {
    return true
  }
}

/** @param stat as in proc(5): behind the name in brackets stand state, parent, group, session, terminal and its group */
export function readsTerminal(stat: string): boolean {
  const [, , group, , , inFront] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === inFront
}
