export { default as multipart } from '@fastify/multipart'
