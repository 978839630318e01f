import { userInfo } from 'node:os'

/** Who runs this command. In a container the user of a pipeline may have no name. */
export function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
