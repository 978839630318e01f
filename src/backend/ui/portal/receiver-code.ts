/** Complete receivers, without packages. Tests run them; the one in JavaScript is also in docs/events.md. */
export const receiverCode = {
  javascript: `import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const key = Buffer.from(process.env.WEBHOOK_SECRET.slice('whsec_'.length), 'base64')
createServer(async (request, response) => {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += part
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given = '' } = request.headers
  const own = Buffer.from(\`v1,\${createHmac('sha256', key).update(\`\${id}.\${time}.\${body}\`).digest('base64')}\`)
  const isOwn = (text) => text.length === own.length && timingSafeEqual(Buffer.from(text, 'latin1'), own)
  const isFresh = Math.abs(Date.now() / 1000 - time) < 300
  const isSigned = isFresh && given.split(' ').some(isOwn) // two signatures during a rotation
  response.writeHead(isSigned ? 204 : 401).end()
  if (isSigned) console.log(request.headers['waypost-event'], id, body) // ignore ids that you have already processed
}).listen(4000)`,
  python: `import base64, hashlib, hmac, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

key = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        id, sent = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "0")
        signed = f"{id}.{sent}.".encode() + body
        own = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        given = self.headers.get("webhook-signature", "").encode().split(b" ")  # two during a rotation
        is_fresh = abs(time.time() - int(sent)) < 300
        is_signed = is_fresh and any(hmac.compare_digest(own, one) for one in given)
        self.send_response(204 if is_signed else 401)
        self.end_headers()
        if is_signed:
            print(self.headers["waypost-event"], id, body.decode())  # ignore ids that you have already processed

HTTPServer(("", 4000), Receiver).serve_forever()`,
} as const
