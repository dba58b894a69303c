const welcomePage = `<!DOCTYPE html>
<html>
<head><title>Welcome to nginx!</title></head>
<body>
<h1>Welcome to nginx!</h1>
<p>This page is served by an nginx that an emulated node runs. It answers real HTTP, so the network between
you and this container works.</p>
</body>
</html>
`;

const nginxConf = `user  nginx;
worker_processes  auto;

error_log  /var/log/nginx/error.log notice;
pid        /run/nginx.pid;

events {
    worker_connections  1024;
}

http {
    include       /etc/nginx/mime.types;
    default_type  application/octet-stream;

    log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent "$http_referer" '
                      '"$http_user_agent" "$http_x_forwarded_for"';

    access_log  /var/log/nginx/access.log  main;

    sendfile        on;
    keepalive_timeout  65;

    include /etc/nginx/conf.d/*.conf;
}
`;

const defaultConf = `server {
    listen       80;
    server_name  localhost;

    location / {
        root   /usr/share/nginx/html;
        index  index.html index.htm;
    }

    error_page   500 502 503 504  /50x.html;
    location = /50x.html {
        root   /usr/share/nginx/html;
    }
}
`;

const mimeTypes = `types {
    text/html    html htm;
    text/css     css;
    text/xml     xml;
    text/plain   txt;
    image/gif    gif;
    image/jpeg   jpeg jpg;
    image/png    png;
    application/javascript  js;
    application/json        json;
}
`;

/** What the official image has in its file system. */
export const nginxFiles: Readonly<Record<string, string>> = {
  '/etc/nginx/nginx.conf': nginxConf,
  '/etc/nginx/mime.types': mimeTypes,
  '/etc/nginx/fastcgi_params': '',
  '/etc/nginx/uwsgi_params': '',
  '/etc/nginx/scgi_params': '',
  '/etc/nginx/conf.d/default.conf': defaultConf,
  '/usr/share/nginx/html/index.html': welcomePage,
  '/usr/share/nginx/html/50x.html': '<!DOCTYPE html>\n<title>Error</title>\n<h1>An error occurred.</h1>\n',
};

/** Its logs go where `kubectl logs` finds them. */
export const nginxLinks: Readonly<Record<string, string>> = {
  '/var/log/nginx/access.log': '/dev/stdout',
  '/var/log/nginx/error.log': '/dev/stderr',
};
